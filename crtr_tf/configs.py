"""Gin at the edge: where configuration files are, what they may bind, and how they are parsed.

    configs.parse(["gin/puzzles/n_puzzle.gin"], ["NPuzzle.size = 3"])

Only binaries and tests call `parse`; the library below them takes plain arguments and knows no gin.
Nothing here happens on import.
"""

import contextlib
import difflib
import functools
import logging
import os
import pathlib
from collections.abc import Iterator, Sequence

import gin

CONFIG_FOLDER = "gin"
_PACKAGE_DIR = pathlib.Path(__file__).resolve().parent


def config_root() -> pathlib.Path:
  """The folder that holds `gin/`: the installed package, or the checkout when run from one.

  The package is asked first, because next to an installed package lies the gin-config library,
  which has the same name as our folder.
  """
  installed = (_PACKAGE_DIR / CONFIG_FOLDER).is_dir()
  return _PACKAGE_DIR if installed else _PACKAGE_DIR.parent


def list_configs(pattern: str = "**/*.gin") -> list[str]:
  """Names of our configuration files, sorted.

  Args:
    pattern: glob below `gin/`, such as `puzzles/*.gin`.

  Returns:
    Names that `config_path` and gin's `include` accept, such as `gin/puzzles/n_puzzle.gin`.
  """
  root = config_root()
  return sorted(p.relative_to(root).as_posix() for p in (root / CONFIG_FOLDER).glob(pattern))


def config_path(name: str | os.PathLike[str]) -> pathlib.Path:
  """Finds a configuration file: as given (absolute or from here), then among our own.

  Args:
    name: a path, or one of the names of `list_configs`.

  Returns:
    The absolute path of an existing file.

  Raises:
    FileNotFoundError: with the folders that were searched and the names that come close.
  """
  folders = [pathlib.Path.cwd(), config_root()]
  for folder in folders:
    path = folder / name  # An absolute name replaces the folder.
    if path.is_file():
      return path
  searched = " and ".join(str(folder) for folder in dict.fromkeys(folders))
  close = _close_names(os.fspath(name))
  hint = f"; did you mean {' or '.join(close)}?" if close else ""
  raise FileNotFoundError(f"No configuration file {os.fspath(name)!r} in {searched}{hint}")


def _close_names(name: str) -> list[str]:
  """Known configurations whose last part resembles that of `name`, best first."""
  by_stem: dict[str, list[str]] = {}
  for known in list_configs():
    by_stem.setdefault(pathlib.PurePath(known).stem, []).append(known)
  stems = difflib.get_close_matches(pathlib.PurePath(name).stem, by_stem, n=3, cutoff=0.5)
  return [known for stem in stems for known in by_stem[stem]]


@functools.cache
def register() -> None:
  """Tells gin which names configuration files may bind; the one place that knows them all.

  Cached because gin refuses to register a name twice. Imports are local because they load
  TensorFlow, which a listing of configurations does not need.
  """
  from crtr_tf import data, puzzles, training
  from crtr_tf.evaluation import success

  for configurable in (
    *puzzles.PUZZLES.values(),
    data.simulated_trajectories,
    data.tfds_trajectories,
    data.rlds_trajectories,
    training.dense_encoder,
    training.conv_encoder,
    training.ContrastiveMethod,
    training.RandomMethod,
    training.SupervisedMethod,
    training.ValueIterationMethod,
    training.adam,
    training.muon,
    training.make_strategy,
    training.train,
    success.solve_rate,
  ):
    gin.external_configurable(configurable)


def parse(config_files: Sequence[str | os.PathLike[str]], bindings: Sequence[str] = ()) -> None:
  """Makes gin's configuration exactly what the files, and then the bindings, say.

  Anything parsed before is dropped, so that a result depends on its own files only. Unknown names
  and undefined macros are errors. `include 'gin/...'` works from any working directory.

  Args:
    config_files: names as for `config_path`; later files override earlier ones.
    bindings: single bindings such as `NPuzzle.size = 3`; they override the files.
  """
  paths = [str(config_path(name)) for name in config_files]
  register()
  _add_search_path(str(config_root()))
  gin.clear_config()
  with _without_lookup_errors():
    gin.parse_config_files_and_bindings(paths, list(bindings), skip_unknown=False)


@functools.cache
def _add_search_path(root: str) -> None:
  """Lets gin find includes below `root`; cached because gin would keep a copy per call."""
  gin.add_config_file_search_path(root)


@contextlib.contextmanager
def _without_lookup_errors() -> Iterator[None]:
  """Hides gin's log lines about places where an include is not.

  Gin tries the working directory before our folder and logs an error for each miss; an include that
  is found nowhere still raises.
  """

  def keep(record: logging.LogRecord) -> bool:
    return record.module != "resource_reader"

  root_logger = logging.getLogger()
  root_logger.addFilter(keep)
  try:
    yield
  finally:
    root_logger.removeFilter(keep)
