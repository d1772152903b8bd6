"""A file of JSON objects, one a line, that survives being killed and can be gone on with."""

import json
import os
import pathlib
import shutil
import sys
from types import TracebackType
from typing import Any, Self

_PARTIAL = ".partial"
RUN = "run"  # the key that tells which settings made a record


class JsonLines:
  """Records written as they come, to `path` + ".partial" until all are there.

  Used in a `with` block: when that ends without an exception the file gets its name.

  Args:
    path: where to; None for standard output.
    resume: goes on behind what an interrupted run left.
    run: stands for everything that records depend on; added to each of them.

  Raises:
    ValueError: if an interrupted run is there and `resume` is not set, if it had another `run`, or
      if the file cannot be written.
  """

  def __init__(self, path: str | None, resume: bool, run: str):
    if path is None and resume:
      raise ValueError("--resume needs --out: standard output cannot be gone on with.")
    self.path = None if path is None else pathlib.Path(path)
    self.done: list[dict[str, Any]] = []  # records of the interrupted run
    self._run = run
    self._file = sys.stdout if self.path is None else self._open(self.path, resume)

  def _open(self, path: pathlib.Path, resume: bool) -> Any:
    if path.is_dir():  # would only be noticed at the end
      raise ValueError(f"{path} is a folder; --out wants a file.")
    self._partial = path.with_name(path.name + _PARTIAL)
    if self._partial.exists() and not resume:
      raise ValueError(
        f"{self._partial} holds the results of an interrupted run; "
        "go on with --resume or remove it."
      )
    self._is_new = not self._partial.exists()
    left = path if self._is_new else self._partial
    size = 0
    if resume and left.exists():
      self.done, size = _read_whole_lines(left)
      if any(record.get(RUN) != self._run for record in self.done):
        raise ValueError(
          f"{left} holds results of another model or other settings; "
          "use the same ones, or another --out."
        )
    try:
      path.parent.mkdir(parents=True, exist_ok=True)
      if size and self._is_new:
        shutil.copyfile(path, self._partial)
      # To append: what is there must survive if this process is killed, too.
      file = open(self._partial, "a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
      raise ValueError(f"{path} cannot be written: {error.strerror}.") from None
    file.truncate(size)
    self._size = size
    return file

  def write(self, record: dict[str, Any]) -> None:
    self._file.write(json.dumps({**record, RUN: self._run}) + "\n")

  def flush(self) -> None:
    """Makes sure that what was written survives the end of the process."""
    self._file.flush()

  def __enter__(self) -> Self:
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
  ) -> None:
    self.flush()
    if self.path is None:
      return
    self._file.close()
    if error is None:
      os.replace(self._partial, self.path)
    elif self._is_new and self._partial.stat().st_size == self._size:
      self._partial.unlink()  # Nothing was done: nothing is left behind.
    else:
      print(f"what was done is in {self._partial}; --resume goes on from there.", file=sys.stderr)


def _read_whole_lines(path: pathlib.Path) -> tuple[list[dict[str, Any]], int]:
  """The records and how many bytes they take; behind these is a line that was cut short, if any."""
  records, size = [], 0
  with open(path, "rb") as lines:
    for line in lines:
      if not line.endswith(b"\n"):
        break
      try:
        record = json.loads(line)
      except ValueError:
        record = None
      if not isinstance(record, dict):
        raise ValueError(
          f"{path}, line {len(records) + 1}: expected a JSON object; cannot go on with this file."
        )
      records.append(record)
      size += len(line)
  return records, size
