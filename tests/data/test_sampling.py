"""Pair sampling against the closed form of its distribution."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from crtr_tf.data import sampling

DRAWS = 40_000
P_VALUE = 1e-4  # the seeds are fixed: a test that passes once passes always


def many_keys(num_groups: int, draws: int = DRAWS) -> tf.Tensor:
  return sampling.step_keys(0, tf.constant(0, tf.int64), num_groups, draws)


def geometric_table(length: int, discount: float, min_offset: int) -> dict[tuple[int, int], float]:
  """P(anchor, offset) written down plainly."""
  table = {}
  for anchor in range(length - min_offset):
    offsets = range(min_offset, length - anchor)
    weights = [discount**offset for offset in offsets]
    for offset, weight in zip(offsets, weights, strict=True):
      table[anchor, offset] = weight / sum(weights) / (length - min_offset)
  return table


def assert_distribution(table: dict[tuple[int, int], float], pairs: list[tuple[int, int]]) -> None:
  """Chi-square of the observed pairs; cells of small expectation are merged."""
  assert set(pairs) <= set(table), "a pair that must not occur"
  counts = {cell: 0 for cell in table}
  for pair in pairs:
    counts[pair] += 1
  expected = np.array([table[cell] * len(pairs) for cell in table])
  observed = np.array([counts[cell] for cell in table])
  rare = expected < 5
  if rare.any():
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
  if len(expected) > 1:
    assert stats.chisquare(observed, expected).pvalue > P_VALUE


@pytest.mark.parametrize("min_offset", [0, 1])
@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
def test_geometric_pairs_follow_the_closed_form_for_every_length(discount: float, min_offset: int):
  lengths = [2, 3, 7, 21]
  keys = many_keys(len(lengths))
  anchors, offsets = sampling.geometric_pairs(keys, tf.constant(lengths), discount, min_offset)
  for row, length in enumerate(lengths):
    pairs = list(zip(anchors[row].numpy().tolist(), offsets[row].numpy().tolist(), strict=True))
    assert_distribution(geometric_table(length, discount, min_offset), pairs)


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("min_offset", [0, 1])
def test_a_share_of_the_pairs_is_drawn_from_the_last_state_backwards(share: float, min_offset: int):
  lengths = [2, 7, 21]
  keys = many_keys(len(lengths))
  drawn = sampling.geometric_pairs(keys, tf.constant(lengths), 0.9, min_offset, share)
  for row, length in enumerate(lengths):
    weights = {k: 0.9**k for k in range(min_offset, length)}
    table = {pair: (1 - share) * p for pair, p in geometric_table(length, 0.9, min_offset).items()}
    for k, weight in weights.items():
      pair = (length - 1 - k, k)
      table[pair] = table.get(pair, 0.0) + share * weight / sum(weights.values())
    pairs = list(zip(*(x[row].numpy().tolist() for x in drawn), strict=True))
    assert_distribution({pair: p for pair, p in table.items() if p}, pairs)


def test_length_two_has_one_pair():
  anchors, offsets = sampling.geometric_pairs(many_keys(1, 100), tf.constant([2]), 0.9)
  assert set(anchors.numpy().ravel()) == {0} and set(offsets.numpy().ravel()) == {1}


def test_long_trajectories_do_not_pile_up_at_the_end():
  anchors, offsets = sampling.geometric_pairs(many_keys(1), tf.constant([5000]), 0.999)
  goals = (anchors + offsets).numpy()
  assert goals.max() <= 4999
  assert np.mean(goals == 4999) < 0.01


def test_uniform_pairs_are_two_sorted_uniform_states():
  length = 6
  first, distance = sampling.uniform_pairs(many_keys(1), tf.constant([length]))
  table = {}
  for a in range(length):
    for b in range(length):
      cell = (min(a, b), abs(a - b))
      table[cell] = table.get(cell, 0) + 1 / length**2
  pairs = list(zip(first[0].numpy().tolist(), distance[0].numpy().tolist(), strict=True))
  assert_distribution(table, pairs)


def test_uniform_states_are_uniform():
  positions = sampling.uniform_states(many_keys(1), tf.constant([9]))[0].numpy()
  assert stats.chisquare(np.bincount(positions, minlength=9)).pvalue > P_VALUE


def test_negatives_by_strategy():
  keys, lengths = many_keys(2, 5000), tf.constant([8, 3])
  anchors, _ = sampling.geometric_pairs(keys, lengths, 0.9)
  of = {s: sampling.negatives(keys, lengths, anchors, s).numpy() for s in ("first", "last")}
  assert (of["first"] == 0).all()
  assert (of["last"] == [[7], [2]]).all()
  uniform = sampling.negatives(keys, lengths, anchors, "uniform").numpy()
  assert stats.chisquare(np.bincount(uniform[0], minlength=8)).pvalue > P_VALUE
  farther = sampling.negatives(keys, lengths, anchors, "farther").numpy()
  anchors = anchors.numpy()
  assert (farther[anchors > 0] < anchors[anchors > 0]).all()
  assert (farther != anchors).all()
  assert farther.max(axis=1).tolist() == [7, 2]
  at_five = farther[0][anchors[0] == 5]
  assert stats.chisquare(np.bincount(at_five, minlength=5)).pvalue > P_VALUE
  with pytest.raises(ValueError, match=r"negatives must be one of .* got 'middle'"):
    sampling.negatives(keys, lengths, tf.constant(anchors), "middle")


def test_negatives_do_not_depend_on_the_anchor_draw():
  keys, lengths = many_keys(1), tf.constant([4])
  anchors, offsets = sampling.geometric_pairs(keys, lengths, 0.9)
  negatives = sampling.negatives(keys, lengths, anchors, "uniform")
  for other in (anchors, offsets):
    table = np.zeros((4, 4))
    np.add.at(table, (other.numpy()[0], negatives.numpy()[0]), 1)
    assert stats.chi2_contingency(table[table.sum(axis=1) > 0]).pvalue > P_VALUE


def test_take_keeps_rows_of_a_trajectory_adjacent():
  states = tf.reshape(tf.range(2 * 3 * 4), [2, 3, 4])
  taken = sampling.take(states, tf.constant([[2, 0], [1, 1]]))
  np.testing.assert_array_equal(taken[:, 0], [8, 0, 16, 16])


def test_keys_differ_by_seed_step_and_row():
  def keys(seed: int, step: int) -> set[int]:
    return set(sampling.step_keys(seed, tf.constant(step, tf.int64), 4, 2).numpy().ravel().tolist())

  everything = [keys(seed, step) for seed in (0, 1) for step in (0, 1, 2)]
  assert len(set().union(*everything)) == 6 * 8
