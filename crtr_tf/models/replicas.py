"""What one replica of a tf.distribute strategy needs of the others; nothing to do for one alone."""

import tensorflow as tf


def count() -> int:
  """Number of replicas that train together."""
  return tf.distribute.get_strategy().num_replicas_in_sync


def several_hosts() -> bool:
  """Whether the replicas are spread over hosts, each with a process of its own."""
  return tf.distribute.get_strategy().cluster_resolver is not None


def gather(x: tf.Tensor) -> tf.Tensor:
  """Rows of all replicas, in the order of the replicas: [b, ...] -> [B, ...].

  Gradients flow back to the replica each row came from, summed over all that used it.
  """
  if count() == 1:
    return x
  if not several_hosts():
    return tf.distribute.get_replica_context().all_gather(x, axis=0)
  # TensorFlow's all_gather fails where a host has one replica. The same as a sum: every replica
  # adds rows that are zero everywhere but in their own place.
  num_rows = tf.shape(x)[0]
  others = tf.zeros([x.shape.rank - 1, 2], tf.int32)
  padded = tf.pad(x, tf.concat([[[0, (count() - 1) * num_rows]], others], axis=0))
  return total(tf.roll(padded, num_rows * _replica(), axis=0))


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
  return rows + num_rows * _replica()


def _replica() -> tf.Tensor:
  """Number of this replica, a scalar int32."""
  return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.int32)
