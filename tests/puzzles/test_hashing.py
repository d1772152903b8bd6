"""State hashes: no collisions in practice, and every bit usable as a table index."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from crtr_tf.puzzles import hashing


def random_states(count: int, size: int = 16, num_values: int = 12, seed: int = 0) -> np.ndarray:
  drawn = np.random.default_rng(seed).integers(num_values, size=(count, size), dtype=np.uint8)
  return np.unique(drawn, axis=0)


def hashes_of(states: np.ndarray) -> np.ndarray:
  return hashing.hash_states(tf.constant(states)).numpy()


def test_different_states_have_different_hashes():
  states = random_states(100_000)
  assert len(np.unique(hashes_of(states))) == len(states)


def test_states_that_differ_in_one_cell_have_different_hashes():
  base = random_states(1)[0]
  neighbours = np.tile(base, (16 * 256, 1))
  neighbours[np.arange(16 * 256), np.repeat(np.arange(16), 256)] = np.tile(np.arange(256), 16)
  distinct = np.unique(neighbours, axis=0)
  assert len(distinct) == 16 * 255 + 1
  assert len(np.unique(hashes_of(distinct))) == len(distinct)


def test_swapped_cells_have_different_hashes():
  base = np.arange(25, dtype=np.uint8)
  swapped = [base]
  for i in range(25):
    for j in range(i):
      one = base.copy()
      one[[i, j]] = one[[j, i]]
      swapped.append(one)
  assert len(np.unique(hashes_of(np.stack(swapped)))) == 1 + 25 * 24 // 2


@pytest.mark.parametrize("shift", [0, 27, 54])
def test_any_ten_bits_are_spread_evenly(shift):
  # Sparse boards that differ little are the hard case.
  states = random_states(120_000, size=49, num_values=2, seed=1)
  parts = hashes_of(states).view(np.uint64) >> np.uint64(shift) & np.uint64(1023)
  counts = np.bincount(parts.astype(np.int64), minlength=1024)
  assert stats.chisquare(counts).pvalue > 1e-3


def test_one_cell_flips_half_of_the_bits():
  states = random_states(2_000)
  changed = states.copy()
  changed[:, 7] ^= 1
  flipped = (hashes_of(states) ^ hashes_of(changed)).view(np.uint64)
  assert abs(np.mean([int(word).bit_count() for word in flipped]) - 32) < 0.5


def test_a_hash_does_not_depend_on_the_batch_or_its_axes():
  states = random_states(24)
  hashes = hashes_of(states)
  assert hashes.dtype == np.int64
  assert hashes_of(states[5:6])[0] == hashes[5]
  assert (hashes_of(states.reshape(2, 3, -1, 16)) == hashes.reshape(2, 3, -1)).all()


def test_xla_equals_eager():
  states = random_states(1_000)
  compiled = tf.function(hashing.hash_states, jit_compile=True)
  np.testing.assert_array_equal(compiled(tf.constant(states)), hashes_of(states))
