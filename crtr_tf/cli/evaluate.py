r"""Measures a model: how well its distances tell time, and how many instances it solves.

  crtr-evaluate --model=rubiks_cube --num_instances=1000 --out_dir=evaluation

Instances are generated from --seed, or read from --instances. Writes evaluation.json, with
everything that two evaluations must share to be compared, and the plots beside it.
"""

import json
import pathlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import flags

from crtr_tf.cli import common, solver_flags

if TYPE_CHECKING:
  from crtr_tf import puzzles
  from crtr_tf.evaluation import bulk

_MODEL = flags.DEFINE_string(
  "model", None, "Released name, or directory that crtr-export wrote.", required=True
)
_NUM_INSTANCES = flags.DEFINE_integer("num_instances", 1000, "How many to generate.")
_SEED = flags.DEFINE_integer("seed", 0, "Of generated instances and held-out trajectories.")
_INSTANCES = flags.DEFINE_string("instances", None, "File of instances to take instead.")
_OPTIMAL_LENGTHS = flags.DEFINE_string(
  "optimal_lengths", None, "File of shortest plans' lengths, one a line in the order of instances."
)
_NUM_TRAJECTORIES = flags.DEFINE_integer("num_trajectories", 100, "Held-out trajectories.")
_OUT_DIR = flags.DEFINE_string("out_dir", "evaluation", "Folder for evaluation.json and the plots.")
_NUM_PROCESSES = flags.DEFINE_integer("num_processes", 1, "Processes to solve with.")
_PLOTS = flags.DEFINE_bool("plots", True, "Whether to draw; t-SNE takes some seconds.")
flags.adopt_module_key_flags(solver_flags)  # for --help


def main(argv: list[str]) -> None:
  del argv
  settings = solver_flags.given()
  for flag in (_NUM_INSTANCES, _NUM_TRAJECTORIES):
    if flag.value < 1:
      raise ValueError(f"--{flag.name} must be at least 1; got {flag.value}.")
  from crtr_tf import export
  from crtr_tf.evaluation import bulk, evaluate
  from crtr_tf.training import run_directory

  recommended = export.Metadata.read(export.find(_MODEL.value)).solver
  solver_flags.check_used(settings, settings.get("solver", recommended.solver))
  job = bulk.Job(_MODEL.value, tuple(sorted(settings.items())))
  puzzle = bulk.solver_of(job).puzzle  # What is wrong with the settings is said before any work.
  instances, optimal = _instances(puzzle)
  out_dir = pathlib.Path(_OUT_DIR.value)
  out_dir.mkdir(parents=True, exist_ok=True)
  pieces = bulk.solve_pieces(job, instances, _NUM_PROCESSES.value)
  measured = evaluate.evaluate(
    job, _with_progress(pieces), _NUM_TRAJECTORIES.value, _SEED.value, optimal, _PLOTS.value
  )
  run_directory.write_atomically(
    out_dir / "evaluation.json", json.dumps(measured.record, indent=2) + "\n"
  )
  for name, fig in measured.figures.items():
    fig.savefig(out_dir / f"{name}.png", dpi=120)
  print(_summary(measured.record))
  print(f"Everything is in {out_dir}/evaluation.json" + (", with plots." if _PLOTS.value else "."))


def _instances(puzzle: "puzzles.Puzzle") -> tuple[Iterator[np.ndarray], np.ndarray | None]:
  """The instances [S], and their optimal lengths if a file of these is given."""
  from crtr_tf.evaluation import evaluate, lengths

  if _INSTANCES.value is None:
    count = _NUM_INSTANCES.value
    instances = evaluate.generated_instances(puzzle, count, _SEED.value)
  else:
    parsed = puzzle.parse_instances("".join(common.read_lines(_INSTANCES.value)))
    if parsed.errors:
      raise ValueError(
        f"{_INSTANCES.value}: {parsed.errors[0]} ({len(parsed.errors)} bad in all); "
        "an evaluation is on good instances only."
      )
    count, instances = len(parsed.states), iter(parsed.states)
  if _OPTIMAL_LENGTHS.value is None:
    return instances, None
  return instances, lengths.read_optimal_lengths(_OPTIMAL_LENGTHS.value, count)


def _with_progress(pieces: Iterator["bulk.Piece"]) -> Iterator["bulk.Piece"]:
  done = solved = 0
  for piece in pieces:
    done += len(piece.states)
    solved += int(np.sum(piece.result.solved))
    print(f"{done} instances, {solved} solved", file=sys.stderr, flush=True)
    yield piece


def _summary(record: dict[str, Any]) -> str:
  """A few lines for people."""
  search, times = record["search"], record["representation"]
  low, high = search["success_interval"]
  lines = [
    f"solved      {search['solved']} of {search['instances']}: {search['success_rate']:.3f} "
    f"(95% interval {low:.3f} to {high:.3f})",
    f"nodes       mean {search['nodes']['mean']:.0f}, {search['nodes_per_second']:.0f} per second",
  ]
  if search["solved"]:
    lengths = search["lengths"]
    lines.append(f"length      mean {lengths['mean']:.1f}, median {lengths['median']:g}")
  if search.get("optimality_gap", {}).get("count"):
    gap = search["optimality_gap"]
    lines.append(
      f"optimality  {gap['mean_excess']:.2f} moves too many in the mean, "
      f"{gap['optimal_share']:.1%} optimal"
    )
  lines.append(f"Spearman    {times['spearman']:.3f} (deviation {times['spearman_deviation']:.3f})")
  accuracies = times["accuracy"]
  lines.append(
    "accuracy    "
    + ", ".join(
      f"{found['state_to_goal']:.3f} with {factor} pair{'s'[: int(factor) > 1]} a trajectory"
      for factor, found in accuracies.items()
    )
  )
  return "\n".join(lines)


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
