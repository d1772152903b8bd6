"""BUILD lists its sources by hand; these tests notice a file that it forgot or invented.

The file is read as Python, of which its Starlark is a subset, so that no Bazel is needed.
"""

import ast
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE_FOLDERS = ("crtr_tf", "datasets", "export", "benchmarks")
PYTHON_RULES = ("py_library", "py_binary", "py_test")

pytestmark = pytest.mark.skipif(
  not (ROOT / "BUILD").is_file(), reason="runs from a checkout, where BUILD is"
)


class Target(NamedTuple):
  """One rule of BUILD with its literal attributes."""

  rule: str
  attributes: dict[str, Any]

  @property
  def name(self) -> str:
    return self.attributes["name"]

  @property
  def sources(self) -> list[str]:
    return self.attributes.get("srcs", [])


def _targets() -> Iterator[Target]:
  for statement in ast.parse((ROOT / "BUILD").read_text()).body:
    call = getattr(statement, "value", None)
    if isinstance(call, ast.Call) and call.func.id in PYTHON_RULES:
      # A glob is no literal and raises here: it would hide exactly what we look for.
      yield Target(call.func.id, {k.arg: ast.literal_eval(k.value) for k in call.keywords})


def _sources(*rules: str) -> set[str]:
  return {source for target in _targets() if target.rule in rules for source in target.sources}


def _files(folder: str, pattern: str = "*.py") -> set[str]:
  return {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(pattern)}


@pytest.mark.parametrize("folder", CODE_FOLDERS)
def test_every_module_is_in_a_target(folder):
  missing = _files(folder) - _sources("py_library", "py_binary")
  assert not missing, f"add to the srcs of a py_library or py_binary in BUILD: {sorted(missing)}"


def test_every_test_file_is_in_a_test_target():
  missing = _files("tests", "test_*.py") - _sources("py_test")
  assert not missing, f"add a py_test to BUILD for: {sorted(missing)}"


def test_every_test_helper_is_in_a_target():
  missing = _files("tests") - _sources(*PYTHON_RULES)
  assert not missing, f"add to the srcs of a target in BUILD: {sorted(missing)}"


def test_every_listed_file_exists():
  invented = {source for source in _sources(*PYTHON_RULES) if not (ROOT / source).is_file()}
  assert not invented, f"BUILD lists files that do not exist: {sorted(invented)}"


def test_names_are_unique_and_dependencies_exist():
  names = [target.name for target in _targets()]
  assert len(names) == len(set(names))
  for target in _targets():
    unknown = {dep for dep in target.attributes.get("deps", []) if dep.lstrip(":") not in names}
    assert not unknown, f"{target.name} depends on targets that BUILD does not define: {unknown}"


def test_test_targets_run_their_own_file():
  for target in _targets():
    if target.rule == "py_test":
      file = f"{target.name}.py"
      assert file in target.sources
      assert target.attributes["args"] == [file]
      assert target.attributes["main"] == "tests/run_pytest.py"
