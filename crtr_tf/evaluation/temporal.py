"""Does distance tell time? Rank correlation along held-out trajectories."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf
from matplotlib import figure
from scipy import stats

from crtr_tf.data.sampling import TrajectoryBatch

DistanceFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # [N, S], [N, S] -> [N]


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
  states, lengths = trajectories.states.numpy(), trajectories.lengths.numpy()
  valid = np.arange(states.shape[1]) < lengths[:, None]
  lasts = states[np.arange(len(states)), lengths - 1]
  flat, goals = states[valid], np.repeat(lasts, lengths, axis=0)
  # Padding to whole chunks keeps a compiled `distance` from being traced for a new shape.
  padding = -len(flat) % chunk
  flat = np.concatenate([flat, np.repeat(flat[-1:], padding, axis=0)])
  goals = np.concatenate([goals, np.repeat(goals[-1:], padding, axis=0)])
  parts = [
    np.asarray(distance(tf.constant(flat[i : i + chunk]), tf.constant(goals[i : i + chunk])))
    for i in range(0, len(flat), chunk)
  ]
  return np.split(np.concatenate(parts)[: lengths.sum()], np.cumsum(lengths)[:-1])


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


def draw_distances(
  distance: DistanceFn, trajectories: TrajectoryBatch, most: int = 20
) -> figure.Figure:
  """Distance to the last state against the steps left, a line per trajectory."""
  fig = figure.Figure(figsize=(5, 3.5), layout="constrained")
  ax = fig.subplots()
  for distances in distances_to_end(distance, trajectories)[:most]:
    ax.plot(np.arange(len(distances))[::-1], distances, linewidth=0.8, alpha=0.7)
  ax.set_xlabel("steps left")
  ax.set_ylabel("latent distance to the last state")
  return fig


def draw_embeddings(
  embed: Callable[[tf.Tensor], tf.Tensor], trajectories: TrajectoryBatch, most: int = 10
) -> figure.Figure:
  """The first two principal components of the states, coloured by trajectory and by progress."""
  states, lengths = trajectories.states.numpy()[:most], trajectories.lengths.numpy()[:most]
  valid = np.arange(states.shape[1]) < lengths[:, None]
  points = np.asarray(embed(tf.constant(states[valid])))
  points = points - points.mean(axis=0)
  _, _, axes = np.linalg.svd(points, full_matrices=False)
  x, y = (points @ axes[:2].T).T
  owner = np.repeat(np.arange(len(lengths)), lengths)
  progress = np.concatenate([np.linspace(0, 1, length) for length in lengths])
  fig = figure.Figure(figsize=(8, 3.8), layout="constrained")
  for ax, colour, map_name, title in zip(
    fig.subplots(1, 2),
    (owner, progress),
    ("tab10", "viridis"),
    ("trajectory", "progress"),
    strict=True,
  ):
    ax.scatter(x, y, c=colour, cmap=map_name, s=8)
    ax.set_title(f"coloured by {title}", fontsize=9)
    ax.set_xticks([])
    ax.set_yticks([])
  return fig
