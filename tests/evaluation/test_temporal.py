"""Rank correlation on distances whose answer is known."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from crtr_tf.data import TrajectoryBatch
from crtr_tf.evaluation import temporal


def counting(lengths: list[int]) -> TrajectoryBatch:
  """Trajectories whose state at time t is [t, noise]; padding would spoil any result."""
  longest = max(lengths)
  states = np.zeros((len(lengths), longest, 2), np.float32)
  states[..., 0] = np.arange(longest)
  states[..., 1] = np.random.default_rng(0).normal(size=states.shape[:2])
  for row, length in zip(states, lengths, strict=True):
    row[length:] = -1e9
  episodes = tf.range(len(lengths), dtype=tf.int64)
  return TrajectoryBatch(tf.constant(states), tf.constant(lengths), episodes)


def gap(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  return goals[:, 0] - states[:, 0]


@pytest.mark.parametrize("chunk", [3, 4096])
def test_distances_are_those_of_each_state_to_its_own_last(chunk: int):
  found = temporal.distances_to_end(gap, counting([2, 5, 3]), chunk)
  assert [part.tolist() for part in found] == [[1, 0], [4, 3, 2, 1, 0], [2, 1, 0]]


def test_perfect_reversed_and_constant_distances():
  trajectories = counting([2, 9, 30])
  perfect = temporal.rank_correlations(lambda s, g: gap(s, g) ** 3, trajectories)
  np.testing.assert_allclose(perfect, 1)
  np.testing.assert_allclose(temporal.rank_correlations(lambda s, g: -gap(s, g), trajectories), -1)
  np.testing.assert_array_equal(
    temporal.rank_correlations(lambda s, g: 0 * gap(s, g), trajectories), 0
  )


def test_correlation_equals_scipy_on_each_trajectory():
  trajectories = counting([12, 40])
  found = temporal.rank_correlations(lambda s, g: gap(s, g) + 9 * s[:, 1], trajectories)
  for row, length, value in zip(trajectories.states.numpy(), [12, 40], found, strict=True):
    distances = row[length - 1, 0] - row[:length, 0] + 9 * row[:length, 1]
    expected = stats.spearmanr(distances, length - 1 - np.arange(length)).statistic
    np.testing.assert_allclose(value, expected)


def test_pictures_show_the_trajectories():
  trajectories = counting([4, 6])
  curves = temporal.draw_distances(gap, trajectories).axes[0].lines
  assert [line.get_ydata().tolist() for line in curves] == [[3, 2, 1, 0], [5, 4, 3, 2, 1, 0]]
  panels = temporal.draw_embeddings(lambda states: states, trajectories).axes
  assert [len(ax.collections[0].get_offsets()) for ax in panels] == [10, 10]
