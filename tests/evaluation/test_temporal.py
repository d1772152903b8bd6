"""Rank correlation on distances whose answer is known."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from crtr_tf.evaluation import temporal
from tests.evaluation.toy_trajectories import counting


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


def test_a_profile_is_the_mean_over_trajectories_that_are_so_long():
  def curved(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return 7 + gap(states, goals) ** 2 * goals[:, 0]

  found = temporal.distance_profile(curved, counting([3, 6, 5]))
  assert found.counts.tolist() == [3, 3, 3, 2, 2, 1]
  by_steps = [[7 + left**2 * last for last in (2, 5, 4) if last >= left] for left in range(6)]
  np.testing.assert_array_equal(found.raw.at, np.arange(6))
  np.testing.assert_allclose(found.raw.values, [np.mean(values) for values in by_steps])
  np.testing.assert_allclose(found.raw.low, [np.percentile(values, 25) for values in by_steps])
  np.testing.assert_allclose(found.raw.high, [np.percentile(values, 75) for values in by_steps])
  shares = [[(left / last) ** 2 for last in (2, 5, 4) if last >= left] for left in range(6)]
  np.testing.assert_allclose(found.normalised.values, [np.mean(values) for values in shares])


def test_a_normalised_profile_knows_no_units_and_no_division_by_zero():
  trajectories = counting([4, 9])
  plain = temporal.distance_profile(gap, trajectories).normalised
  scaled = temporal.distance_profile(lambda s, g: 100 * gap(s, g) - 3, trajectories).normalised
  np.testing.assert_allclose(plain.values, scaled.values, atol=1e-6)
  constant = temporal.distance_profile(lambda s, g: 0 * gap(s, g) + 5, trajectories)
  np.testing.assert_array_equal(constant.raw.values, 5)
  np.testing.assert_array_equal(constant.normalised.values, 0)


def test_a_profile_ends_where_few_trajectories_go_on():
  trajectories = counting([4] * 19 + [6, 9])
  found = temporal.distance_profile(gap, trajectories)
  assert found.counts.tolist() == [21] * 4  # two of 21 are less than a tenth
  np.testing.assert_allclose(found.raw.values, [0, 1, 2, 3])
  assert found.normalised.values[3] < 1  # the longer ones have farther to go
  whole = temporal.distance_profile(gap, trajectories, smallest_share=0)
  assert whole.counts.tolist() == [21] * 4 + [2, 2, 1, 1, 1]
  np.testing.assert_allclose(whole.raw.values, np.arange(9))


def test_profiles_are_drawn_raw_or_normalised():
  profile = temporal.distance_profile(lambda s, g: 5 * gap(s, g), counting([3, 3]))
  for normalised, expected in ((False, [0, 5, 10]), (True, [0, 0.5, 1])):
    drawn = temporal.draw_profiles({"crl": profile}, normalised).axes[0]
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), expected)
    assert ("normalised" in drawn.get_ylabel()) == normalised


def test_pictures_show_the_trajectories():
  trajectories = counting([4, 6])
  curves = temporal.draw_distances(gap, trajectories).axes[0].lines
  assert [line.get_ydata().tolist() for line in curves] == [[3, 2, 1, 0], [5, 4, 3, 2, 1, 0]]
  by_trajectory, by_progress, _ = temporal.draw_embeddings(lambda x: x, trajectories).axes
  assert [len(line.get_xdata()) for line in by_trajectory.lines] == [4, 6]
  assert len(by_progress.collections[0].get_offsets()) == 10
  only_first = temporal.draw_embeddings(lambda x: x, trajectories, most=1).axes[0]
  assert [len(line.get_xdata()) for line in only_first.lines] == [4]
