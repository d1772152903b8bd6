r"""Solves puzzle instances given as text.

  crtr-solve --model=rubiks_cube --instance="R U R' U' F2"
  crtr-solve --model=models/sokoban --instances=levels.txt --out=solutions.jsonl
  cat boards.txt | crtr-solve --model=digit_jumper --instances=- --solver=greedy
  crtr-solve --list_models

Writes one JSON object a line for each instance, in their order: number, instance, solved, plan,
length, nodes, expanded, seconds; for one that cannot be read, number, instance and error. Every
plan has been replayed. `seconds` is an instance's share of the time of those solved with it.
"""

import collections
import dataclasses
import hashlib
import pathlib
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import flags

from crtr_tf.cli import common, json_lines, solver_flags

if TYPE_CHECKING:
  from crtr_tf import puzzles
  from crtr_tf.evaluation import bulk

_MODEL = flags.DEFINE_string("model", None, "Released name, or directory that crtr-export wrote.")
_LIST_MODELS = flags.DEFINE_bool("list_models", False, "Lists the released models and stops.")
_INSTANCE = flags.DEFINE_string("instance", None, "One instance, on the command line.")
_INSTANCES = flags.DEFINE_string("instances", None, "File of instances; - is standard input.")
_OUT = flags.DEFINE_string("out", None, "File for the results; standard output by default.")
_RESUME = flags.DEFINE_bool("resume", False, "Goes on with an interrupted run to the same --out.")
_DRAW = flags.DEFINE_string("draw", None, "Folder for a picture of each solution.")
_NUM_PROCESSES = flags.DEFINE_integer("num_processes", 1, "Processes to solve with.")
_NUM_LANES = flags.DEFINE_integer(
  "num_lanes",
  None,
  "Instances that a process searches at once; by default what keeps it busy. Results are written "
  "after about four times as many.",
)
_MEMORY_GB = flags.DEFINE_float(
  "memory_gb", None, "Memory that the search may use; by default half of what is free."
)
flags.adopt_module_key_flags(solver_flags)  # for --help


class Instance:
  """One instance of the input: a state, or the reason why it is none."""

  def __init__(self, number: int, text: str, puzzle: "puzzles.Puzzle"):
    from crtr_tf import puzzles

    self.number = number
    self.text = text
    self.state: np.ndarray | None = None
    self.error: str | None = None
    try:
      self.state = puzzle.parse_instance(text)
    except puzzles.InstanceError as error:
      self.error = str(error)


class Session:
  """Results on their way from the solver to the file, and what is told about them.

  Args:
    puzzle: of the instances.
    lines: the input.
    out: where records go; instances that it has already are not solved again.
  """

  def __init__(
    self, puzzle: "puzzles.Puzzle", lines: Iterable[str], out: json_lines.JsonLines
  ) -> None:
    self._puzzle = puzzle
    self._lines = lines
    self._out = out
    self._pending: collections.deque[Instance] = collections.deque()  # read, not yet written
    self._num_bad = 0
    self._nodes: list[int] = []
    self._lengths: list[int] = []
    self._start = time.perf_counter()
    for record in out.done:
      self._count(record)
    self._num_before = len(self._nodes)  # from the run that is gone on with

  def states(self) -> Iterator[np.ndarray]:
    """The good instances that are not done yet, read as they are asked for."""
    number = 0
    for number, text in enumerate(self._puzzle.iterate_instances(self._lines), start=1):
      if number <= len(self._out.done):
        if self._out.done[number - 1]["instance"] != text:
          raise ValueError(
            f"{self._out.path} has another instance {number} than the input; "
            "it was made from other instances."
          )
        continue
      instance = Instance(number, text, self._puzzle)
      self._pending.append(instance)
      self._write_leading_bad()
      if instance.state is not None:
        yield instance.state
    if number < len(self._out.done):
      raise ValueError(
        f"{self._out.path} has {len(self._out.done)} instances, the input only {number}; "
        "it was made from other instances."
      )

  def write(self, piece: "bulk.Piece") -> None:
    """Writes the results of a piece, and the bad instances before and between its own."""
    for row in range(len(piece.states)):
      self._write_result(self._pending.popleft(), piece, row)
      self._write_leading_bad()
    self._out.flush()
    done, solved, rate = len(self._nodes), len(self._lengths), self._nodes_per_second()
    print(f"{done} done, {solved} solved, {rate:.0f} nodes/s", file=sys.stderr, flush=True)

  def finish(self) -> None:
    """Tells what came out.

    Raises:
      ValueError: if there was no instance at all.
    """
    if self._nodes:
      print(self._summary(), file=sys.stderr)
    elif not self._num_bad:
      raise ValueError(f"no {self._puzzle.name} instance found: the input is empty.")

  def check_any_good(self) -> None:
    """Raises ValueError if all that was done is to report bad instances."""
    if not self._nodes:
      raise ValueError(f"not one of {self._num_bad} instances can be read.")

  def _write_result(self, instance: Instance, piece: "bulk.Piece", row: int) -> None:
    plan = piece.result.plan(row)
    record = {
      "number": instance.number,
      "instance": instance.text,
      "solved": plan is not None,
      "plan": None if plan is None else self._puzzle.format_plan(instance.state, plan),
      "length": None if plan is None else len(plan),
      "nodes": int(piece.result.nodes[row]),
      "expanded": int(piece.result.expanded[row]),
      "seconds": round(piece.seconds / len(piece.states), 4),
    }
    if plan is not None and _DRAW.value:
      _draw(self._puzzle, instance, plan, pathlib.Path(_DRAW.value))
    self._out.write(record)
    self._count(record)

  def _write_leading_bad(self) -> None:
    """Writes the bad instances that wait for no good one."""
    while self._pending and self._pending[0].state is None:
      self._write_bad(self._pending.popleft())

  def _write_bad(self, instance: Instance) -> None:
    record = {"number": instance.number, "instance": instance.text, "error": instance.error}
    print(f"instance {instance.number}: {instance.error}", file=sys.stderr)
    self._out.write(record)
    self._count(record)

  def _count(self, record: dict[str, Any]) -> None:
    if "error" in record:
      self._num_bad += 1
      return
    self._nodes.append(record["nodes"])
    if record["solved"]:
      self._lengths.append(record["length"])

  def _nodes_per_second(self) -> float:
    return sum(self._nodes[self._num_before :]) / (time.perf_counter() - self._start)

  def _summary(self) -> str:
    total = len(self._nodes)
    parts = [f"solved {len(self._lengths)} of {total} ({len(self._lengths) / total:.1%})"]
    if self._lengths:
      mean, median = statistics.mean(self._lengths), statistics.median(self._lengths)
      parts.append(f"length mean {mean:.1f}, median {median:g}")
    parts.append(f"nodes mean {statistics.mean(self._nodes):.0f}")
    parts.append(f"{self._nodes_per_second():.0f} nodes/s")
    if self._num_bad:
      parts.append(f"{self._num_bad} instances could not be read")
    return "; ".join(parts) + "."


def main(argv: list[str]) -> None:
  del argv
  if _LIST_MODELS.value:
    _list_models()
    return
  if _MODEL.value is None:
    raise ValueError("--model is missing; --list_models shows the released ones.")
  if (_INSTANCE.value is None) == (_INSTANCES.value is None):
    raise ValueError("give either --instance or --instances (a file, or - for standard input).")
  settings = solver_flags.given()
  from crtr_tf import export
  from crtr_tf.evaluation import bulk

  metadata = export.Metadata.read(export.find(_MODEL.value))
  used = dataclasses.replace(metadata.solver, **settings)
  solver_flags.check_used(settings, used.solver)
  memory_limit = None if _MEMORY_GB.value is None else int(_MEMORY_GB.value * 2**30)
  job = bulk.Job(_MODEL.value, tuple(sorted(settings.items())), _NUM_LANES.value, memory_limit)
  puzzle = bulk.solver_of(job).puzzle
  run_id = hashlib.sha256(f"{metadata.weights} {used}".encode()).hexdigest()[:12]
  if _INSTANCE.value is not None:
    lines: Iterable[str] = _INSTANCE.value.splitlines()
  else:
    lines = common.read_lines(_INSTANCES.value)
  with json_lines.JsonLines(_OUT.value, _RESUME.value, run_id) as out:
    session = Session(puzzle, lines, out)
    for piece in bulk.solve_pieces(job, session.states(), _NUM_PROCESSES.value):
      session.write(piece)
    session.finish()
  session.check_any_good()


def _list_models() -> None:
  from crtr_tf import export

  names = export.released_models()
  if not names:
    print("this version comes without models; train one, see the README.")
  for name in names:
    metadata = export.Metadata.read(export.find(name))
    board = metadata.puzzle["board_shape"]
    size = f" {board[0]}x{board[1]}" if board else ""
    training = metadata.training
    print(
      f"{name:<20} {metadata.puzzle['name']}{size}: {training.method}, {training.steps} steps; "
      f"searches with {metadata.solver.solver}"
    )


def _draw(
  puzzle: "puzzles.Puzzle", instance: Instance, plan: list[int], folder: pathlib.Path
) -> None:
  from crtr_tf import puzzles
  from crtr_tf.puzzles import drawing

  folder.mkdir(parents=True, exist_ok=True)
  states = puzzles.replay(puzzle, instance.state, plan)
  drawing.draw_solution(puzzle, states, plan).savefig(
    folder / f"{instance.number:04d}.png", dpi=100
  )


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
