"""Does distance tell time? Rank correlation and mean distance along held-out trajectories."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from matplotlib import figure
from scipy import stats

from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation import plots, representations
from crtr_tf.evaluation.curves import Curve

DistanceFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # [N, S], [N, S] -> [N]

_BAND = (25, 75)  # percentiles


class DistanceProfile(NamedTuple):
  """Distances to the last state by the number of steps left, from 0 to K - 1.

  The curves hold means over the trajectories that are so long, and the band between the quartiles.
  """

  raw: Curve  # [K]
  normalised: Curve  # [K], each trajectory scaled to the range from 0 to 1
  counts: np.ndarray  # [K] int, how many trajectories are so long


def distances_to_end(
  distance: DistanceFn, trajectories: TrajectoryBatch, chunk: int = 4096
) -> list[np.ndarray]:
  """For each trajectory, the distance of each of its states to its last one.

  Args:
    distance: of states to goals, lower is closer.
    trajectories: G of them.
    chunk: how many states are compared at a time.

  Returns:
    G arrays [length], in the order of time.
  """
  flat = representations.flatten(trajectories)
  lasts = flat.points[flat.steps_left == 0]
  distances = representations.map_rows(distance, [flat.points, lasts[flat.owners]], chunk)
  return np.split(distances, np.flatnonzero(flat.steps_left == 0)[:-1] + 1)


def rank_correlations(distance: DistanceFn, trajectories: TrajectoryBatch) -> np.ndarray:
  """Spearman's correlation of distance to the last state with steps left to it: [G], perfect is 1.

  Where all distances are equal, which says nothing about time, the correlation is 0.
  """
  correlations = []
  for distances in distances_to_end(distance, trajectories):
    if np.ptp(distances) == 0:
      correlations.append(0.0)
    else:
      steps_left = np.arange(len(distances))[::-1]
      correlations.append(stats.spearmanr(distances, steps_left).statistic)
  return np.array(correlations)


def distance_profile(
  distance: DistanceFn, trajectories: TrajectoryBatch, smallest_share: float = 0.1
) -> DistanceProfile:
  """How the distance to the last state falls as it comes nearer, over all trajectories.

  Args:
    distance: of states to goals, lower is closer.
    trajectories: G of them.
    smallest_share: the profile ends where less than this share of the trajectories is so long, as
      a mean over a few of them is mostly noise; 0 to go on to the longest.
  """
  raw = distances_to_end(distance, trajectories)
  lengths = np.array([len(distances) for distances in raw])
  counts = np.sum(lengths[:, None] > np.arange(lengths.max()), axis=0)
  end = np.sum(counts >= smallest_share * len(raw))
  normalised = [_between_zero_and_one(distances) for distances in raw]
  return DistanceProfile(_profile(raw, end), _profile(normalised, end), counts[:end])


def _between_zero_and_one(distances: np.ndarray) -> np.ndarray:
  """[length] -> [length]; all 0 where all are equal."""
  spread = np.ptp(distances)
  return (distances - distances.min()) / (spread if spread > 0 else 1)


def _profile(by_trajectory: list[np.ndarray], end: int) -> Curve:
  """Mean and percentiles [end] of G arrays [length], aligned at their last states."""
  backward = np.full((len(by_trajectory), end), np.nan)
  for row, values in zip(backward, by_trajectory, strict=True):
    row[: len(values)] = values[::-1][:end]
  low, high = np.nanpercentile(backward, _BAND, axis=0)
  return Curve(np.arange(end), np.nanmean(backward, axis=0), low, high)


def draw_profiles(
  profiles: Mapping[str, DistanceProfile], normalised: bool = True
) -> figure.Figure:
  """Mean distance and its quartiles against the steps left, a line for each name."""
  if normalised:
    curves = {name: profile.normalised for name, profile in profiles.items()}
    return plots.draw_distance_profiles(curves, "latent distance (normalised)")
  return plots.draw_distance_profiles({name: profile.raw for name, profile in profiles.items()})


def draw_distances(
  distance: DistanceFn, trajectories: TrajectoryBatch, most: int = 20
) -> figure.Figure:
  """Distance to the last state against the steps left, a line per trajectory."""
  ax = plots.new_axes()
  for distances in distances_to_end(distance, trajectories)[:most]:
    ax.plot(np.arange(len(distances))[::-1], distances, linewidth=0.8, alpha=0.7)
  plots.name_axes(ax, "steps left", "latent distance to the last state")
  return ax.figure


def draw_embeddings(
  embed: representations.EmbedFn, trajectories: TrajectoryBatch, most: int = 10
) -> figure.Figure:
  """The first two principal components of the states, coloured by trajectory and by progress."""
  some = TrajectoryBatch(*(part[:most] for part in trajectories))
  found = representations.represent(embed, some)
  axes = representations.PrincipalAxes.of(found.points, 2)
  return plots.draw_projection(found._replace(points=axes.project(found.points)))
