"""Where models are: released ones by name, others by their directory."""

import os
import pathlib

from crtr_tf.export.metadata import FILE, ModelError

SAVED_MODEL = "saved_model.pb"
_RELEASED = pathlib.Path(__file__).resolve().parent / "released"


def released_models() -> list[str]:
  """Names of the models that come with the package."""
  return sorted(path.parent.parent.name for path in _RELEASED.glob(f"*/{FILE}"))


def find(name: str | os.PathLike[str]) -> pathlib.Path:
  """The directory of a model.

  Args:
    name: a released name, a SavedModel directory, or one with numbered versions in it, as
      TensorFlow Serving has them: the highest number is taken. A directory that is called like a
      released model is meant by "./name".

  Raises:
    ModelError: if there is no model.
  """
  if os.fspath(name) in released_models():
    return _RELEASED / name
  path = pathlib.Path(name)
  if not path.is_dir():
    known = ", ".join(released_models()) or "none"
    raise ModelError(
      f"there is no model {os.fspath(name)!r}: no such directory, and released models are: {known}."
    )
  versions = [child for child in path.iterdir() if child.is_dir() and child.name.isdecimal()]
  if not (path / SAVED_MODEL).is_file() and versions:
    path = max(versions, key=lambda child: int(child.name))
  if not (path / SAVED_MODEL).is_file():
    raise ModelError(f"{path} is no SavedModel: it has no {SAVED_MODEL}.")
  return path
