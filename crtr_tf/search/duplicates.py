"""Duplicates within one batch of keys."""

import tensorflow as tf

_WANTED_BIT = 1  # replaces a bit of the key, so that no unwanted key equals a wanted one


def first_occurrences(keys: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
  """Marks those of the wanted keys that equal no wanted key before them in their row.

  Of the 64 bits of a key all but the lowest are compared.

  Args:
    keys: [L, K] int64.
    wanted: [L, K] bool.

  Returns:
    [L, K] bool, False where not wanted.
  """
  bit = tf.constant(_WANTED_BIT, tf.int64)
  marked, unmarked = tf.bitwise.bitwise_or(keys, bit), tf.bitwise.bitwise_and(keys, ~bit)
  keys = tf.where(wanted, marked, unmarked)
  order = tf.argsort(keys, axis=1, stable=True)  # equal keys stay in order
  in_order = tf.gather(keys, order, batch_dims=1)
  differs = in_order[:, 1:] != in_order[:, :-1]
  is_first = tf.concat([tf.ones_like(differs[:, :1]), differs], axis=1)
  rows = tf.zeros_like(order) + tf.range(tf.shape(order)[0])[:, None]
  back = tf.stack([rows, order], axis=-1)
  return wanted & tf.tensor_scatter_nd_update(tf.zeros_like(wanted), back, is_first)
