"""Random pairs of states from a batch of trajectories: the mathematics of the training data.

Every function is vectorised, takes explicit random keys and gives the same rows for the same keys.
Axes: G trajectories (groups), R pairs from each, T states, S the shape of one state.
"""

from typing import NamedTuple

import tensorflow as tf

from crtr_tf.puzzles import counter_random

NEGATIVE_STRATEGIES = ("uniform", "first", "last", "farther")

# Which draw of a row's key serves what; no two purposes may share a number.
_ANCHOR, _OFFSET, _NEGATIVE, _TO_END = range(4)


class TrajectoryBatch(NamedTuple):
  """Distinct trajectories; states behind a trajectory's length are padding of any value."""

  states: tf.Tensor  # [G, T, *S] uint8 or float32
  lengths: tf.Tensor  # [G] int32, at least 2
  episodes: tf.Tensor  # [G] int64, a number that tells trajectories apart


class PairIndices(NamedTuple):
  """Where in its trajectory each pair of a batch comes from."""

  anchors: tf.Tensor  # [G, R] int32
  offsets: tf.Tensor  # [G, R] int32, from the anchor to the goal


def step_keys(seed: int, step: tf.Tensor, num_groups: int, repetition_factor: int) -> tf.Tensor:
  """[G, R] uint64 keys: a row's draws depend on the seed, the step and its place alone."""
  step_key = counter_random.episode_keys("batches", seed, tf.reshape(step, [1]))
  rows = tf.range(num_groups * repetition_factor, dtype=tf.int64)
  return tf.reshape(counter_random.bits(step_key, rows), [num_groups, repetition_factor])


def geometric_pairs(
  keys: tf.Tensor,
  lengths: tf.Tensor,
  discount: float,
  min_offset: int = 1,
  last_goal_share: float = 0.0,
) -> PairIndices:
  """Anchors uniform, offsets geometric, truncated to what is left of the trajectory.

  An anchor is uniform among the states that have a state `min_offset` later. The offset k is drawn
  with probability proportional to discount^k among min_offset <= k <= states left, by inverting its
  distribution function, so nothing piles up at the end of the trajectory.

  Args:
    keys: [G, R] uint64.
    lengths: [G] int32 numbers of states.
    discount: in (0, 1).
    min_offset: 1, or 0 to let a state be its own goal.
    last_goal_share: share of the pairs that are drawn from the other end: their goal is the last
      state, of which a search asks, and the anchor lies such an offset before it.
  """
  num_anchors = lengths[:, None] - min_offset
  anchors = counter_random.integers(keys, _ANCHOR, num_anchors)
  to_end = counter_random.uniforms(keys, _TO_END) < last_goal_share
  num_offsets = num_anchors - tf.where(to_end, 0, anchors)  # at least one
  uniform = counter_random.uniforms(keys, _OFFSET)
  # float64: discount^n would vanish in float32 where the trajectory is long.
  total = -tf.math.expm1(tf.cast(num_offsets, tf.float64) * tf.math.log(_f64(discount)))
  drawn = tf.math.log1p(-tf.cast(uniform, tf.float64) * total) / tf.math.log(_f64(discount))
  steps = tf.clip_by_value(tf.cast(tf.floor(drawn), tf.int32), 0, num_offsets - 1)
  offsets = steps + min_offset
  return PairIndices(tf.where(to_end, lengths[:, None] - 1 - offsets, anchors), offsets)


def uniform_pairs(keys: tf.Tensor, lengths: tf.Tensor) -> PairIndices:
  """Two independent uniform states in the order of time, for the supervised baseline.

  Distances from 0 to length - 1 occur and the last state is among both anchors and goals.
  """
  first = counter_random.integers(keys, _ANCHOR, lengths[:, None])
  second = counter_random.integers(keys, _OFFSET, lengths[:, None])
  return PairIndices(tf.minimum(first, second), tf.abs(first - second))


def negatives(keys: tf.Tensor, lengths: tf.Tensor, anchors: tf.Tensor, strategy: str) -> tf.Tensor:
  """Extra negatives from the anchor's own trajectory, the paper's alternatives to repetition.

  Args:
    keys: [G, R] uint64.
    lengths: [G] int32.
    anchors: [G, R] int32.
    strategy: "uniform" (any state), "first", "last", or "farther" (a state before the anchor, so
      farther from the solution, for puzzles where all last states are the same; the first state,
      which has none before it, takes any later one).

  Returns:
    [G, R] int32 positions in the trajectories.
  """
  lengths = tf.broadcast_to(lengths[:, None], tf.shape(anchors))
  if strategy == "uniform":
    return counter_random.integers(keys, _NEGATIVE, lengths)
  if strategy == "first":
    return tf.zeros_like(anchors)
  if strategy == "last":
    return lengths - 1
  if strategy == "farther":
    later = 1 + counter_random.integers(keys, _NEGATIVE, lengths - 1)
    earlier = counter_random.integers(keys, _NEGATIVE, tf.maximum(anchors, 1))
    return tf.where(anchors > 0, earlier, later)
  raise ValueError(f"negatives must be one of {NEGATIVE_STRATEGIES}; got {strategy!r}.")


def uniform_states(keys: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
  """[G, R] int32 positions, uniform: how value iteration sees scrambled states."""
  return counter_random.integers(keys, _ANCHOR, lengths[:, None])


def take(states: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
  """[G, T, *S] states at [G, R] positions -> [G * R, *S], rows of one trajectory side by side."""
  taken = tf.gather(states, positions, batch_dims=1)
  return tf.reshape(taken, tf.concat([[-1], tf.shape(states)[2:]], axis=0))


def _f64(x: float) -> tf.Tensor:
  return tf.constant(x, tf.float64)
