"""Search for plans, batched over problems and compiled together with the heuristic."""

from crtr_tf.search.heuristic import DistanceFn, Heuristic, as_heuristic, has_embeddings
from crtr_tf.search.result import SearchResult
from crtr_tf.search.solvers import (
  BeamSolver,
  BestFirstSolver,
  GreedySolver,
  Solver,
  memory_per_lane,
)
from crtr_tf.search.symmetry import symmetry_averaged
from crtr_tf.search.verification import verify

__all__ = [
  "BeamSolver",
  "BestFirstSolver",
  "DistanceFn",
  "GreedySolver",
  "Heuristic",
  "SearchResult",
  "Solver",
  "as_heuristic",
  "has_embeddings",
  "memory_per_lane",
  "symmetry_averaged",
  "verify",
]
