"""Distances of many states at the encoder's best rate, without encoding what nobody asked for."""

import tensorflow as tf

from crtr_tf.search import heuristic as heuristics

DEFAULT_ROWS = 256  # states per call of the encoder: where a CPU's rate has levelled off


def distances(
  heuristic: heuristics.Heuristic,
  states: tf.Tensor,
  contexts: tf.Tensor,
  wanted: tf.Tensor,
  rows: int = DEFAULT_ROWS,
) -> tf.Tensor:
  """Distances of the wanted states from the goals of their lanes.

  The wanted states are moved together and encoded in blocks of one fixed size, as many as it takes.
  So what it costs depends on how many states are wanted, whatever lane they are in, and what comes
  out for a state does not depend on how many others there are.

  Args:
    heuristic: how far?
    states: [L, K, S] uint8.
    contexts: [L, ...], what the heuristic prepared for the goal of each lane.
    wanted: [L, K] bool.
    rows: states per call of the heuristic.

  Returns:
    [L, K] float32, +inf where not wanted or where the heuristic gave NaN.
  """
  width, total = tf.shape(wanted)[1], tf.size(wanted)
  rows = tf.minimum(rows, total)
  num_blocks = -(-total // rows)
  states = tf.reshape(states, [total, states.shape[2]])
  order, places = _wanted_first(wanted, num_blocks * rows)
  order = tf.reshape(order, [num_blocks, rows])

  def encode(block: tf.Tensor, values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    members = tf.gather(order, block)
    lanes = members // width
    found = heuristic.distance(tf.gather(states, members), tf.gather(contexts, lanes))
    found = tf.reshape(tf.cast(found, tf.float32), [1, rows])
    return block + 1, tf.tensor_scatter_nd_update(values, [[block]], found)

  needed = tf.reduce_sum(tf.cast(wanted, tf.int32))
  _, values = tf.while_loop(
    lambda block, _: block * rows < needed, encode, (0, tf.zeros([num_blocks, rows]))
  )
  values = tf.gather(tf.reshape(values, [-1]), places)
  return tf.where(wanted & ~tf.math.is_nan(values), values, float("inf"))


def _wanted_first(wanted: tf.Tensor, size: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Numbers the wanted ones among [L, K].

  Returns:
    order: [size] int32, their flat positions one after the other, then zeros.
    places: [L, K] int32, where each of them is in `order`; for the others any place.
  """
  counted = tf.cast(wanted, tf.int32)
  in_lane = tf.cumsum(counted, axis=1)
  before_lane = tf.cumsum(in_lane[:, -1], exclusive=True)
  places = tf.maximum(in_lane + before_lane[:, None] - 1, 0)
  bin_place = size  # one more than there are, for those not wanted
  targets = tf.reshape(tf.where(wanted, places, bin_place), [-1, 1])
  order = tf.zeros([size + 1], tf.int32)
  order = tf.tensor_scatter_nd_update(order, targets, tf.range(tf.size(wanted)))
  return order[:-1], places
