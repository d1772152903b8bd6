"""The SplitMix64 generator for compiled loops.

A generator is an array of one uint64, its state. Started from a key of `counter_random` it yields
`bits(key, 0), bits(key, 1), ...`, so both sides speak of the same stream of draws.

Numba's cache notices a change of the file that a function is in, but not of functions and constants
that come from other files: whoever edits this file, `cells.py` or `board.py` must also touch
`rooms.py`, `push_search.py` and `expert.py`.
"""

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def mix64(x: np.uint64) -> np.uint64:
  """The finaliser of SplitMix64, equal to `counter_random.mix64`."""
  x = (x ^ (x >> np.uint64(30))) * _MULTIPLIER_1
  x = (x ^ (x >> np.uint64(27))) * _MULTIPLIER_2
  return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def bits(key: np.uint64, draw: np.uint64) -> np.uint64:
  """64 random bits for a draw number of a key, equal to `counter_random.bits`."""
  return mix64(key + (draw + np.uint64(1)) * _GOLDEN)


@njit(cache=True, nogil=True)
def start(key: np.uint64) -> np.ndarray:
  """A generator whose first draw is `bits(key, 0)`: [1] uint64."""
  generator = np.empty(1, np.uint64)
  generator[0] = key
  return generator


@njit(cache=True, nogil=True)
def next_bits(generator: np.ndarray) -> np.uint64:
  """The next 64 random bits of `generator`."""
  generator[0] += _GOLDEN
  return mix64(generator[0])


@njit(cache=True, nogil=True)
def next_below(generator: np.ndarray, bound: int) -> int:
  """A uniform integer in [0, bound), with a bias below bound / 2^32."""
  high = next_bits(generator) >> np.uint64(32)
  return np.int64((high * np.uint64(bound)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def random_table(seed: int, rows: int, columns: int) -> np.ndarray:
  """Fixed random numbers, such as the ones that hash a state: [rows, columns] uint64."""
  generator = start(np.uint64(seed))
  table = np.empty((rows, columns), np.uint64)
  for row in range(rows):
    for column in range(columns):
      table[row, column] = next_bits(generator)
  return table
