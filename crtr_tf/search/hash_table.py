"""Sets of 64-bit keys, one per lane, as open-addressing tables in one dense tensor.

Axes: L lanes, T + 1 slots of a lane's table, K keys per lane. T is a power of two; the last slot is
a bin for writes that are not meant to happen, and is never read.

A lane is emptied by giving it a new tag (1, 2, 3, ...): an entry is the upper bits of a key with
the tag in place of the lower ones, and an entry with another tag than the lane's counts as free. So
the next problem costs nothing to start on, however large the table. Two keys are taken for one if
their upper 44 bits agree and they meet in the same run of slots, which the lower bits decide: that
happens as often as with a hash of about 56 bits, once in 10^9 problems of 6000 nodes.
"""

from typing import NamedTuple

import tensorflow as tf

TAG_BITS = 20
MAX_TAG = (1 << TAG_BITS) - 1
_TAG_MASK = MAX_TAG
_LOAD = 2  # slots per key at least: keeps the runs of occupied slots short
_KEY_BYTES = 8


class Places(NamedTuple):
  """Where keys are in the table, or where they would go."""

  present: tf.Tensor  # [L, K] bool
  slots: tf.Tensor  # [L, K] int32: of the key if present, otherwise the first free one


def num_slots(capacity: int) -> int:
  """T + 1 for tables that hold `capacity` keys."""
  return (1 << (_LOAD * capacity - 1).bit_length()) + 1


def num_bytes(capacity: int) -> int:
  """Memory of one lane."""
  return _KEY_BYTES * num_slots(capacity)


def empty(num_lanes: tf.Tensor, capacity: int) -> tf.Tensor:
  """Empty for every tag: [L, T + 1] int64."""
  return tf.zeros([num_lanes, num_slots(capacity)], tf.int64)


def restart(table: tf.Tensor, tags: tf.Tensor, keys: tf.Tensor, lanes: tf.Tensor) -> tf.Tensor:
  """Leaves one key [L] in each of the marked lanes [L], which have new tags."""
  slots = tf.where(lanes[:, None], _homes(keys[:, None], table), _bin(table))
  return _write(table, slots, _entries(keys[:, None], tags))


def find(table: tf.Tensor, tags: tf.Tensor, keys: tf.Tensor, wanted: tf.Tensor) -> Places:
  """Looks up keys.

  Args:
    table: [L, T + 1] int64.
    tags: [L] int32.
    keys: [L, K] int64.
    wanted: [L, K] bool; the answer for the other keys has no meaning.
  """
  entries = _entries(keys, tags)

  def probe(searching: tf.Tensor, slots: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, ...]:
    found = tf.gather(table, slots, batch_dims=1)
    searching &= (found != entries) & _occupied(found, tags)
    return searching, tf.where(searching, _next(slots, table), slots), found == entries

  _, slots, present = tf.while_loop(
    lambda searching, *_: tf.reduce_any(searching),
    probe,
    (wanted, _homes(keys, table), tf.zeros_like(wanted)),
  )
  return Places(present, slots)


def insert(
  table: tf.Tensor, tags: tf.Tensor, keys: tf.Tensor, slots: tf.Tensor, wanted: tf.Tensor
) -> tf.Tensor:
  """Adds the wanted keys, all different and absent, at their free slots [L, K] or the next ones.

  Where several keys want one slot, one of them gets it and the others move on.

  Returns:
    [L, T + 1] int64, the new table.
  """
  entries = _entries(keys, tags)

  def place(
    waiting: tf.Tensor, slots: tf.Tensor, table: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    free = ~_occupied(tf.gather(table, slots, batch_dims=1), tags)
    table = _write(table, tf.where(waiting & free, slots, _bin(table)), entries)
    waiting &= tf.gather(table, slots, batch_dims=1) != entries
    return waiting, tf.where(waiting, _next(slots, table), slots), table

  return tf.while_loop(lambda waiting, *_: tf.reduce_any(waiting), place, (wanted, slots, table))[2]


def _write(table: tf.Tensor, slots: tf.Tensor, entries: tf.Tensor) -> tf.Tensor:
  """Writes entries [L, K] to slots [L, K]."""
  lanes = tf.zeros_like(slots) + tf.range(tf.shape(slots)[0])[:, None]
  return tf.tensor_scatter_nd_update(table, tf.stack([lanes, slots], axis=-1), entries)


def _entries(keys: tf.Tensor, tags: tf.Tensor) -> tf.Tensor:
  upper = tf.bitwise.bitwise_and(keys, tf.constant(~_TAG_MASK, tf.int64))
  return tf.bitwise.bitwise_or(upper, tf.cast(tags, tf.int64)[:, None])


def _occupied(entries: tf.Tensor, tags: tf.Tensor) -> tf.Tensor:
  found = tf.bitwise.bitwise_and(entries, tf.constant(_TAG_MASK, tf.int64))
  return found == tf.cast(tags, tf.int64)[:, None]


def _homes(keys: tf.Tensor, table: tf.Tensor) -> tf.Tensor:
  """The first slot to try: [L, K] int32."""
  return tf.cast(tf.bitwise.bitwise_and(keys, table.shape[1] - 2), tf.int32)


def _next(slots: tf.Tensor, table: tf.Tensor) -> tf.Tensor:
  return tf.bitwise.bitwise_and(slots + 1, table.shape[1] - 2)


def _bin(table: tf.Tensor) -> int:
  return table.shape[1] - 1
