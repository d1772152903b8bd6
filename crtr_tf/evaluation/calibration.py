"""What a latent distance means in steps: a monotone map, fitted on held-out trajectories."""

import numpy as np
from sklearn import isotonic

from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation import temporal

_MAX_KNOTS = 64


def fit(distance: temporal.DistanceFn, trajectories: TrajectoryBatch) -> dict[str, list[float]]:
  """Isotonic regression of the steps that are left on the distance to the last state.

  Latent distances only grow with the number of steps. To add them to a depth, as A* does, they must
  be in steps themselves.

  The regression is a staircase. It is taken at the middle of each stair, so that the map, which
  goes straight from there to the next, never makes two distances equal: search needs their order.

  Args:
    distance: of states to goals, lower is closer.
    trajectories: not those of the training.

  Returns:
    `distances` and `steps`, both strictly increasing: points to interpolate between. A distance
    that says nothing gives the mean number of steps everywhere.
  """
  by_trajectory = temporal.distances_to_end(distance, trajectories)
  distances = np.concatenate(by_trajectory).astype(np.float64)
  steps_left = np.concatenate([np.arange(len(one))[::-1] for one in by_trajectory])
  fitted = isotonic.IsotonicRegression().fit_transform(distances, steps_left)
  steps, stair = np.unique(np.round(fitted, 4), return_inverse=True)
  middles = np.bincount(stair, distances) / np.bincount(stair)
  knots = _thinned(middles, steps)
  # float32 is what distances are; two knots must not fall together in it.
  xs, first = np.unique(knots[0].astype(np.float32), return_index=True)
  ys = knots[1][first]
  if len(xs) < 2:
    xs, ys = np.array([xs[0], xs[0] + 1.0]), np.repeat(ys, 2)
  return {"distances": [float(x) for x in xs], "steps": [float(y) for y in ys]}


def _thinned(xs: np.ndarray, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """At most _MAX_KNOTS of the points, evenly spaced in y: the map is interpolated linearly."""
  if len(xs) <= _MAX_KNOTS:
    return xs, ys
  wanted = np.linspace(ys[0], ys[-1], _MAX_KNOTS)
  kept = np.unique(np.concatenate([[0], np.searchsorted(ys, wanted), [len(ys) - 1]]))
  return xs[kept], ys[kept]
