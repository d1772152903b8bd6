"""The compiled hash table against Python's sets."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.search import hash_table

LANES, KEYS, CAPACITY = 5, 16, 200


@tf.function(jit_compile=True)
def _find_and_insert(
  table: tf.Tensor, tags: tf.Tensor, keys: tf.Tensor, wanted: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  before = hash_table.find(table, tags, keys, wanted)
  table = hash_table.insert(table, tags, keys, before.slots, wanted & ~before.present)
  return table, before.present, hash_table.find(table, tags, keys, wanted).present


def _keys(rng: np.random.Generator, crowded: bool) -> np.ndarray:
  """Keys [L, K], different within a lane, some seen before; crowded ones start at few slots."""
  homes = rng.integers(0, 4 if crowded else 1 << 20, (LANES, KEYS))
  numbers = np.stack([rng.choice(300, KEYS, replace=False) for _ in range(LANES)])
  return (numbers << 20) * 7919 + (numbers % 4 if crowded else homes * 0 + numbers)


@pytest.mark.parametrize("crowded", [False, True])
def test_holds_what_was_inserted_and_nothing_else(crowded):
  rng = np.random.default_rng(0)
  table, tags = hash_table.empty(LANES, CAPACITY), np.ones(LANES, np.int32)
  sets = [set() for _ in range(LANES)]
  for _ in range(12):
    keys, wanted = _keys(rng, crowded), rng.random((LANES, KEYS)) < 0.8
    table, before, after = _find_and_insert(table, tags, keys, wanted)
    for lane, one in enumerate(sets):
      known = [int(key) in one for key in keys[lane][wanted[lane]]]
      assert before.numpy()[lane][wanted[lane]].tolist() == known
      assert after.numpy()[lane][wanted[lane]].all()
      one.update(keys[lane][wanted[lane]].tolist())


def test_is_full_only_at_its_capacity():
  keys = np.arange(1, CAPACITY + 1)[None] << 20  # All of them start at slot 0.
  table, tags = hash_table.empty(1, CAPACITY), np.ones(1, np.int32)
  table, before, after = _find_and_insert(table, tags, keys, np.ones_like(keys, bool))
  assert not before.numpy().any() and after.numpy().all()


def test_a_new_tag_empties_one_lane_and_leaves_the_others():
  keys = np.random.default_rng(1).integers(1 << 60, size=(LANES, KEYS))
  everything = np.ones_like(keys, bool)
  table, tags = hash_table.empty(LANES, CAPACITY), np.ones(LANES, np.int32)
  table, _, _ = _find_and_insert(table, tags, keys, everything)
  renewed = np.arange(LANES) == 2
  tags = np.where(renewed, hash_table.MAX_TAG, tags).astype(np.int32)
  table = hash_table.restart(table, tags, keys[:, 0], tf.constant(renewed))
  _, before, after = _find_and_insert(table, tags, keys, everything)
  np.testing.assert_array_equal(before.numpy()[2], np.arange(KEYS) == 0)
  assert before.numpy()[~renewed].all() and after.numpy().all()
