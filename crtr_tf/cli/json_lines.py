"""A file of JSON objects, one a line, that survives being killed and can be gone on with."""

import json
import os
import pathlib
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
    ValueError: if an interrupted run is there and `resume` is not set, or if it had another `run`.
  """

  def __init__(self, path: str | None, resume: bool, run: str):
    if path is None and resume:
      raise ValueError("--resume needs --out: standard output cannot be gone on with.")
    self.path = None if path is None else pathlib.Path(path)
    self.done: list[dict[str, Any]] = []  # records of the interrupted run
    self._run = run
    self._file = sys.stdout if self.path is None else self._open(self.path, resume)

  def _open(self, path: pathlib.Path, resume: bool) -> Any:
    partial = path.with_name(path.name + _PARTIAL)
    path.parent.mkdir(parents=True, exist_ok=True)
    left = partial if partial.exists() else path
    if resume and left.exists():
      self.done = _read_whole_lines(left)
      if any(record.get(RUN) != self._run for record in self.done):
        raise ValueError(
          f"{left} holds results of another model or other settings; "
          "use the same ones, or another --out."
        )
    elif partial.exists():
      raise ValueError(
        f"{partial} holds the results of an interrupted run; go on with --resume or remove it."
      )
    self._partial = partial
    # A line that was cut short is written again.
    file = open(partial, "w", encoding="utf-8")  # noqa: SIM115
    for record in self.done:
      file.write(json.dumps(record) + "\n")
    file.flush()
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
    elif not self._partial.stat().st_size:
      self._partial.unlink()  # Nothing was done: nothing is left behind.


def _read_whole_lines(path: pathlib.Path) -> list[dict[str, Any]]:
  text = path.read_text(encoding="utf-8")
  try:
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
  except ValueError as error:
    raise ValueError(f"{path} is no file of JSON lines ({error}); cannot go on with it.") from None
