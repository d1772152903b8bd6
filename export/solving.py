"""From settings to a solver: which search, and with what distance."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from crtr_tf import puzzles, search
from crtr_tf.export.metadata import SolverSettings

SOLVERS = ("bestfs", "astar", "greedy", "beam")
AUTO = "auto"


def make_solver(
  puzzle: puzzles.Puzzle,
  model: Any,
  settings: SolverSettings,
  calibration: dict[str, list[float]] | None = None,
  num_lanes: int | None = None,
  memory_limit: int | None = None,
  jit_compile: bool = True,
) -> search.Solver:
  """The search that settings describe.

  Args:
    puzzle: the rules.
    model: the distance, see `search.as_heuristic`.
    settings: which search.
    calibration: what distances mean in steps, see `Metadata`; needed for alpha "auto".
    num_lanes: problems to search at once; None for as many as keep the encoder busy.
    memory_limit: bytes for all of them; None for half of what is free.
    jit_compile: whether XLA compiles it.
  """
  model = search.symmetry_averaged(model, puzzle, settings.symmetries)
  shared = {"num_lanes": num_lanes, "memory_limit": memory_limit, "jit_compile": jit_compile}
  if settings.solver == "greedy":
    return search.GreedySolver(puzzle, model, settings.max_steps, **shared)
  if settings.solver == "beam":
    return search.BeamSolver(puzzle, model, settings.beam_width, settings.max_steps, **shared)
  if settings.solver not in SOLVERS:
    raise ValueError(f"solver must be one of {', '.join(SOLVERS)}; got {settings.solver!r}.")
  alpha = settings.alpha if settings.solver == "astar" else 0.0
  if alpha == AUTO:
    if calibration is None:
      raise ValueError(
        "alpha 'auto' needs a model that knows what its distances mean in steps; this one has no "
        "calibration. Give a number for alpha."
      )
    if not settings.weight >= 0:
      raise ValueError(f"weight must be a number of at least 0; got {settings.weight}.")
    model = calibrated(model, calibration, settings.weight)
    alpha = 1.0
  return search.BestFirstSolver(
    puzzle,
    model,
    settings.budget,
    float(alpha),
    settings.top_k,
    settings.expand_batch,
    **shared,
  )


def calibrated(
  model: Any, calibration: dict[str, list[float]], weight: float = 1.0
) -> search.Heuristic:
  """The model's distance in steps, times a weight."""
  heuristic = search.as_heuristic(model)
  in_steps = interpolation(calibration["distances"], calibration["steps"])

  def distance(states: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
    raw = heuristic.distance(states, contexts)
    # Infinity says that there is no way; in steps it would become a long one.
    return tf.where(tf.math.is_finite(raw), weight * in_steps(raw), raw)

  return search.Heuristic(heuristic.prepare, distance)


def interpolation(xs: list[float], ys: list[float]) -> Callable[[tf.Tensor], tf.Tensor]:
  """The function through the points that is linear between them.

  Outside it goes on with the slope from the first to the last, but not below 0: states that are
  farther than any that were seen are still told apart.

  Args:
    xs: at least two, strictly increasing.
    ys: as many, not decreasing.
  """
  x, y = tf.constant(xs, tf.float32), tf.constant(ys, tf.float32)
  slope = (ys[-1] - ys[0]) / (xs[-1] - xs[0])

  def evaluate(values: tf.Tensor) -> tf.Tensor:
    inside = tf.clip_by_value(values, x[0], x[-1])
    right = tf.clip_by_value(tf.searchsorted(x, inside, side="left"), 1, len(xs) - 1)
    x0, x1 = tf.gather(x, right - 1), tf.gather(x, right)
    y0, y1 = tf.gather(y, right - 1), tf.gather(y, right)
    between = y0 + (y1 - y0) * (inside - x0) / (x1 - x0)
    return tf.maximum(between + slope * (values - inside), 0.0)

  return evaluate
