"""64-bit state hashes for duplicate detection in the search."""

import functools

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import counter_random

_MULTIPLIER_SEED = 0x5EED


@functools.cache
def _multipliers(size: int) -> np.ndarray:
  return np.random.default_rng(_MULTIPLIER_SEED).integers(
    np.iinfo(np.int64).min, np.iinfo(np.int64).max, size, dtype=np.int64
  )


def hash_states(states: tf.Tensor) -> tf.Tensor:
  """[..., S] uint8 -> [...] int64.

  A multilinear hash (each cell times its own random 64-bit number, summed modulo 2^64) is
  universal: two different states collide with probability at most 2^-57 over the choice of the
  multipliers (2^-64 unless all their differences are even). The final mix makes every bit, so also
  a few low ones taken as a table index, depend on all cells.
  """
  size = states.shape[-1]
  total = tf.reduce_sum(tf.cast(states, tf.int64) * tf.constant(_multipliers(size)), axis=-1)
  return tf.bitcast(counter_random.mix64(tf.bitcast(total, tf.uint64)), tf.int64)
