"""How many puzzles does a heuristic solve?"""

import dataclasses
from typing import Any

import tensorflow as tf

from crtr_tf import puzzles, search

# Not the seed of the evaluation instances that results are reported on: training looks at these.
_TRAINING_SEED = 20_000


@dataclasses.dataclass
class SolveRate:
  """The share of a fixed set of instances that best-first search solves, to be watched in training.

  Attributes:
    puzzle: whose instances.
    num_instances: how many.
    budget: nodes for each of them.
    top_k: how many children of a node are kept, None for all.
  """

  puzzle: puzzles.Puzzle
  num_instances: int = 50
  budget: int = 500
  top_k: int | None = None

  def __post_init__(self) -> None:
    self._instances = self.puzzle.instances(
      _TRAINING_SEED, tf.range(self.num_instances, dtype=tf.int64)
    )
    self._solvers: dict[int, search.BestFirstSolver] = {}  # compiled once for each model

  def __call__(self, heuristic: Any) -> dict[str, float]:
    """`heuristic` is anything that `search.as_heuristic` takes, such as a model."""
    if id(heuristic) not in self._solvers:
      self._solvers = {
        id(heuristic): search.BestFirstSolver(
          self.puzzle, heuristic, self.budget, top_k=self.top_k, num_lanes=self.num_instances
        )
      }
    result = self._solvers[id(heuristic)].solve(self._instances)
    return {"solve_rate": float(tf.reduce_mean(tf.cast(result.solved, tf.float32)))}


def solve_rate(
  puzzle: puzzles.Puzzle, num_instances: int = 50, budget: int = 500, top_k: int | None = None
) -> SolveRate:
  """An evaluator for `train`; see `SolveRate`."""
  return SolveRate(puzzle, num_instances, budget, top_k)
