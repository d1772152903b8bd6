"""What one replica of a tf.distribute strategy needs of the others; nothing to do for one alone."""

import tensorflow as tf


def count() -> int:
  """Number of replicas that train together."""
  return tf.distribute.get_strategy().num_replicas_in_sync


def gather(x: tf.Tensor) -> tf.Tensor:
  """Rows of all replicas, in the order of the replicas: [b, ...] -> [B, ...].

  Gradients flow back to the replica each row came from, summed over all that used it.
  """
  if count() == 1:
    return x
  return tf.distribute.get_replica_context().all_gather(x, axis=0)


def total(x: tf.Tensor) -> tf.Tensor:
  """Sum over the replicas."""
  if count() == 1:
    return x
  return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def row_numbers(num_rows: tf.Tensor) -> tf.Tensor:
  """[b] int32: where this replica's rows are in `gather`; replicas must hold equally many."""
  rows = tf.range(num_rows)
  if count() == 1:
    return rows
  replica = tf.distribute.get_replica_context().replica_id_in_sync_group
  return rows + num_rows * tf.cast(replica, tf.int32)
