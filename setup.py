"""Packaging of crtr_tf: all metadata lives here, tool settings in `pyproject.toml`."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).resolve().parent

# Folders that sit at the top of the checkout but are installed inside the package. `gin` holds only
# data: with an `__init__.py` it would shadow the gin-config library, so it is never looked through
# for packages.
FOLDERS = {"crtr_tf.datasets": "datasets", "crtr_tf.export": "export", "crtr_tf.gin": "gin"}


def read_version() -> str:
  """Reads the version as text: importing the package would need its dependencies."""
  text = (ROOT / "crtr_tf" / "version.py").read_text(encoding="utf-8")
  return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE).group(1)


def list_packages() -> list[str]:
  """Names of all packages as they are installed."""
  packages = find_packages(str(ROOT), include=["crtr_tf", "crtr_tf.*"])
  for name, folder in FOLDERS.items():
    packages.append(name)
    if name != "crtr_tf.gin":
      packages += [f"{name}.{child}" for child in find_packages(str(ROOT / folder))]
  return packages


EXTRAS = {
  "test": [
    "pytest",
    "pytest-xdist",  # small models leave most of a machine idle: two workers halve the time
    "hypothesis",
    "magiccube",  # an independent cube to compare ours with
    "dill",  # tfds.testing imports it but does not ask for it
    "build",  # the packaging test builds the wheel as a user would
    "setuptools",  # ... with the backend that is already installed, so offline
    "wheel",
  ],
  "beam": ["apache-beam"],  # bulk dataset generation and evaluation
  "gpu": ["tensorflow[and-cuda]"],
  "oracle": ["kociemba"],  # two-phase cube solver for tests; needs a C compiler to install
  "lint": ["ruff"],
}
EXTRAS["dev"] = EXTRAS["test"] + EXTRAS["lint"] + EXTRAS["beam"]

setup(
  name="crtr_tf",
  version=read_version(),
  description="Contrastive Representations for Temporal Reasoning (CRTR) in TensorFlow and Keras",
  long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
  long_description_content_type="text/markdown",
  author="The crtr_tf authors",
  license="MIT",
  classifiers=[
    "Development Status :: 3 - Alpha",
    "Intended Audience :: Science/Research",
    "Programming Language :: Python :: 3.11",
    "Programming Language :: Python :: 3.12",
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
  ],
  # The pins of constraints.txt are tried on 3.11 and published for 3.12; raise this after a try.
  python_requires=">=3.11,<3.13",
  packages=list_packages(),
  package_dir=FOLDERS,
  package_data={
    "crtr_tf.datasets": ["**/*.md", "**/*.bib", "**/*.txt", "**/*.tsv"],
    "crtr_tf.export": ["*.md", "released/**"],
    "crtr_tf.gin": ["**/*.gin"],
  },
  # `pip install -e` and `import` read the unpacked files: configurations and models are paths.
  zip_safe=False,
  # The default name, `build`, is the same as `BUILD` on file systems that ignore case.
  options={"build": {"build_base": ".build"}},
  install_requires=[
    "tensorflow>=2.21",
    "keras",
    "tensorflow-datasets",
    "importlib_resources",  # TFDS imports it but does not ask for it
    "mlcroissant",  # and so does its command line
    "numpy",
    "absl-py",
    "gin-config",
    "scipy",  # rank correlation, assignment lower bounds
    "scikit-learn",  # t-SNE of the representations
    "matplotlib",  # plots and drawings of puzzles
    "numba",  # compiled Sokoban level generator and expert search
    "tensorboard",  # the Keras callback needs it; TensorFlow no longer brings it along
  ],
  extras_require=EXTRAS,
  entry_points={
    "console_scripts": [
      "crtr-quickstart = crtr_tf.cli.quickstart:run",
      "crtr-train = crtr_tf.cli.train:run",
      "crtr-export = crtr_tf.cli.export:run",
      "crtr-solve = crtr_tf.cli.solve:run",
      "crtr-evaluate = crtr_tf.cli.evaluate:run",
      "crtr-reproduce = crtr_tf.cli.reproduce:run",
    ],
  },
)
