"""The wheel, built and installed as a user would, works without the checkout."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from crtr_tf import configs, version

ROOT = pathlib.Path(__file__).resolve().parents[1]
INSTALLED_AS = {
  "crtr_tf": "crtr_tf",
  "datasets": "crtr_tf/datasets",
  "export": "crtr_tf/export",
  "gin": "crtr_tf/gin",
}
EXTRAS_OF_SETUP = ("test", "beam", "lint", "oracle")
# Stand-ins for files that come with builders and released models, whatever of these exists yet.
PROBES = (
  "datasets/probe/__init__.py",
  "datasets/probe/README.md",
  "datasets/probe/CITATIONS.bib",
  "datasets/probe/TAGS.txt",
  "export/released/probe/saved_model.pb",
  "export/released/probe/assets.extra/crtr.json",
  "export/released/probe/variables/variables.data-00000-of-00001",
)

pytestmark = pytest.mark.skipif(
  not (ROOT / "setup.py").is_file(), reason="runs from a checkout, where setup.py is"
)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> pathlib.Path:
  """A copy of what the wheel is made from: building in place would leave files in the checkout."""
  copy = tmp_path_factory.mktemp("source")
  for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
    shutil.copy(ROOT / name, copy)
  for folder in (*INSTALLED_AS, "tests"):
    shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
  for probe in PROBES:
    (copy / probe).parent.mkdir(parents=True, exist_ok=True)
    (copy / probe).touch()
  return copy


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> pathlib.Path:
  out = tmp_path_factory.mktemp("wheel")
  _run("-m", "build", "--wheel", "--no-isolation", "--outdir", out, source, cwd=out)
  (built,) = out.glob("*.whl")
  return built


@pytest.fixture(scope="module")
def target(wheel, tmp_path_factory) -> pathlib.Path:
  """A folder that holds the installed wheel, and nothing else."""
  folder = tmp_path_factory.mktemp("target")
  _run("-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, wheel, cwd=folder)
  return folder


def _run(*arguments: object, cwd: pathlib.Path, **environment: str) -> str:
  """Runs this Python, with its libraries but without the paths pytest was given."""
  variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | environment
  command = [sys.executable, *map(str, arguments)]
  done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True)
  assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
  return done.stdout


def test_wheel_holds_all_modules_and_data(source, wheel):
  expected = set()
  for folder, installed in INSTALLED_AS.items():
    files = (p for p in (source / folder).rglob("*") if p.suffix in (".py", ".gin"))
    expected |= {f"{installed}/{p.relative_to(source / folder).as_posix()}" for p in files}
  expected |= {f"crtr_tf/{probe}" for probe in PROBES}
  names = set(zipfile.ZipFile(wheel).namelist())
  assert expected <= names, f"missing: {sorted(expected - names)}"


def test_wheel_holds_nothing_else(wheel):
  names = zipfile.ZipFile(wheel).namelist()
  metadata = f"crtr_tf-{version.__version__}.dist-info"
  assert {name.split("/")[0] for name in names} == {"crtr_tf", metadata}
  assert "crtr_tf/gin/__init__.py" not in names
  assert not [name for name in names if re.search(r"(^|/)tests?/|(^|/)test_|_test\.py$", name)]


def test_installed_wheel_works_without_the_checkout(target, tmp_path):
  code = """
import pathlib, sys
import crtr_tf, crtr_tf.datasets.probe, crtr_tf.export, gin
from crtr_tf import configs

target = pathlib.Path(sys.argv[1])
for module in (crtr_tf, crtr_tf.datasets, crtr_tf.datasets.probe, crtr_tf.export, configs):
  assert target in pathlib.Path(module.__file__).parents, module.__file__
assert hasattr(gin, "external_configurable"), gin
assert configs.config_root() == target / "crtr_tf"
for name in configs.list_configs():
  assert configs.config_path(name).is_file()
  print(name)
"""
  out = _run("-c", code, target, cwd=tmp_path, PYTHONPATH=str(target))
  assert out.split() == configs.list_configs()


def test_installed_wheel_parses_configs(target, tmp_path):
  code = """
import gin
from crtr_tf import configs

open("mine.gin", "w").write("include 'gin/puzzles/n_puzzle.gin'")
configs.parse(["mine.gin"], ["NPuzzle.size = 3"])
print(gin.query_parameter("NPuzzle.size"))
"""
  assert _run("-c", code, cwd=tmp_path, PYTHONPATH=str(target)).strip() == "3"


def _requires_installation() -> None:
  try:
    importlib.metadata.distribution("crtr_tf")
  except importlib.metadata.PackageNotFoundError:
    pytest.skip("crtr_tf is not installed here; `make setup` installs it")


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_this_installation_works_inside_and_outside_the_checkout(inside, tmp_path):
  _requires_installation()
  code = """
import crtr_tf.datasets, crtr_tf.export, gin
from crtr_tf import configs

assert hasattr(gin, "external_configurable"), gin
assert configs.list_configs()
"""
  _run("-c", code, cwd=ROOT if inside else tmp_path)


def test_all_versions_agree():
  cff = (ROOT / "CITATION.cff").read_text()
  assert re.search(r"^version: (.+)$", cff, re.MULTILINE).group(1) == version.__version__


def test_constraints_pin_everything_that_setup_installs():
  _requires_installation()
  lines = (ROOT / "constraints.txt").read_text().splitlines()
  pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
  assert all(re.fullmatch(r"==[^,*]+", str(pin.specifier)) for pin in pins)
  pinned = {canonicalize_name(pin.name) for pin in pins}
  missing = _closure("crtr-tf", EXTRAS_OF_SETUP) - {"crtr-tf"} - pinned
  assert not missing, f"add to constraints.txt: {sorted(missing)}"
  assert {"pip", "setuptools", "wheel"} <= pinned


def _closure(root: str, root_extras: tuple[str, ...]) -> set[str]:
  """Names of all distributions that `root` with its extras needs on this machine."""
  seen: set[tuple[str, str]] = set()
  waiting = [(root, extra) for extra in ("", *root_extras)]
  while waiting:
    name, extra = entry = waiting.pop()
    if entry in seen:
      continue
    seen.add(entry)
    try:
      requirements = map(Requirement, importlib.metadata.requires(name) or [])
    except importlib.metadata.PackageNotFoundError:
      continue  # An optional package that could not be installed here.
    for requirement in requirements:
      if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
        child = canonicalize_name(requirement.name)
        waiting += [(child, wanted) for wanted in ("", *requirement.extras)]
  return {name for name, _ in seen}
