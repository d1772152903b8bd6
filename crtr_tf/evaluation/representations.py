"""The states of many trajectories in one array, and their representations.

Axes: G trajectories, T states of the longest, N states of all of them, S the shape of one state, d
numbers of a representation.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf.data.sampling import TrajectoryBatch

EmbedFn = Callable[[tf.Tensor], tf.Tensor]  # [M, *S] -> [M, d]

_CHUNK = 4096


class TrajectoryPoints(NamedTuple):
  """A point for every state: trajectory after trajectory, each in the order of time."""

  points: np.ndarray  # [N, ...], whatever stands for a state
  owners: np.ndarray  # [N] int, the number of its trajectory, from 0 to G - 1
  steps_left: np.ndarray  # [N] int, to the last state of its trajectory
  progress: np.ndarray  # [N] float, from 0 at the first state to 1 at the last


def flatten(trajectories: TrajectoryBatch) -> TrajectoryPoints:
  """Leaves the padding out: the points are the states [N, *S] themselves."""
  states, lengths = np.asarray(trajectories.states), np.asarray(trajectories.lengths)
  times = np.arange(states.shape[1])
  valid = times < lengths[:, None]
  last = lengths[:, None] - 1
  return TrajectoryPoints(
    states[valid],
    np.repeat(np.arange(len(lengths)), lengths),
    (last - times)[valid],
    (times / last)[valid],
  )


def represent(
  embed: EmbedFn, trajectories: TrajectoryBatch, chunk: int = _CHUNK
) -> TrajectoryPoints:
  """The representations [N, d] of all states."""
  flat = flatten(trajectories)
  return flat._replace(points=map_rows(embed, [flat.points], chunk))


def map_rows(
  function: Callable[..., tf.Tensor], arrays: Sequence[np.ndarray], chunk: int = _CHUNK
) -> np.ndarray:
  """Applies a function of rows to arrays of many rows, so many at a time.

  Args:
    function: arrays of M matching rows -> M results.
    arrays: N rows each, N at least 1.
    chunk: M; the last chunk is filled up by repetition of the last row, so that a compiled function
      is not traced for another shape.

  Returns:
    N results.
  """
  num = len(arrays[0])
  chunk = min(chunk, num)
  rows = np.minimum(np.arange(num + -num % chunk), num - 1)
  parts = [
    np.asarray(function(*(tf.constant(array[rows[i : i + chunk]]) for array in arrays)))
    for i in range(0, len(rows), chunk)
  ]
  return np.concatenate(parts)[:num]


class PrincipalAxes(NamedTuple):
  """The directions of the largest variance."""

  mean: np.ndarray  # [d]
  axes: np.ndarray  # [num, d] orthonormal

  @classmethod
  def of(cls, points: np.ndarray, num: int) -> "PrincipalAxes":
    """Those of the points [N, d], largest variance first; at most min(N, d) of them."""
    mean = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - mean, full_matrices=False)
    return cls(mean, axes[:num])

  def project(self, points: np.ndarray) -> np.ndarray:
    """[N, d] -> [N, num]."""
    return (points - self.mean) @ self.axes.T
