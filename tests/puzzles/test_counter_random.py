"""Random draws: the right numbers, whatever is drawn around them, and evenly spread."""

import itertools
import zlib

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from crtr_tf.puzzles import counter_random

GOLDEN = 0x9E3779B97F4A7C15
WORD = 2**64


def splitmix_finaliser(x: int) -> int:
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
  return x ^ (x >> 31)


def expected_key(stream: str, seed: int, episode: int) -> int:
  base = splitmix_finaliser((seed * GOLDEN + zlib.crc32(stream.encode())) % WORD)
  return splitmix_finaliser((base + episode * GOLDEN) % WORD)


def expected_bits(key: int, draw: int) -> int:
  """Draw number `draw` of the SplitMix64 generator that starts in state `key`."""
  return splitmix_finaliser((key + (draw + 1) * GOLDEN) % WORD)


def keys_of(count: int, seed: int = 0) -> tf.Tensor:
  return counter_random.episode_keys("test", seed, tf.range(count, dtype=tf.int64))


def test_bits_are_the_published_sequence_of_splitmix64():
  # The first outputs of the reference implementation in C for the state 1234567.
  drawn = counter_random.bits(tf.constant(1234567, tf.uint64), tf.range(3))
  assert drawn.numpy().tolist() == [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
  ]


@pytest.mark.parametrize("seed", [0, 1, -1, 2**31, -(2**63), 2**64 - 1, 2**64 + 5, 10**30])
def test_keys_and_bits_equal_big_integer_arithmetic(seed):
  episodes = [0, 1, 17, 2**31 - 1, 2**62]
  keys = counter_random.episode_keys("a/b", seed, tf.constant(episodes, tf.int64))
  expected = [expected_key("a/b", seed % WORD, episode) for episode in episodes]
  assert keys.numpy().tolist() == expected
  draws = [0, 3, 10**6]
  drawn = counter_random.bits(keys[:, None], tf.constant(draws, tf.int64)).numpy()
  assert drawn.tolist() == [[expected_bits(key, draw) for draw in draws] for key in expected]


def test_integers_and_uniforms_are_the_top_bits():
  keys = keys_of(50)
  words = [expected_bits(int(key), 4) for key in keys.numpy()]
  integers = counter_random.integers(keys, 4, 1000)
  assert integers.dtype == tf.int32
  assert integers.numpy().tolist() == [(word >> 32) * 1000 >> 32 for word in words]
  uniforms = counter_random.uniforms(keys, 4).numpy()
  assert uniforms.tolist() == [(word >> 40) / 2**24 for word in words]


def test_bounds_broadcast_over_the_keys():
  bounds = tf.constant([1, 2, 3, 1000])
  drawn = counter_random.integers(keys_of(4), 0, bounds).numpy()
  for row, bound in enumerate(bounds.numpy()):
    assert drawn[row] == counter_random.integers(keys_of(4), 0, int(bound)).numpy()[row] < bound


@pytest.mark.parametrize("bound", [2, 12, 1000])
def test_integers_are_uniform(bound):
  keys = keys_of(300, seed=3)[:, None]
  drawn = counter_random.integers(keys, tf.range(200), bound).numpy()
  assert stats.chisquare(np.bincount(drawn.ravel(), minlength=bound)).pvalue > 1e-3


def test_neighbouring_draws_and_episodes_are_uncorrelated():
  drawn = counter_random.uniforms(keys_of(400)[:, None], tf.range(400)).numpy()
  for axis in (0, 1):
    one, next_one = np.delete(drawn, -1, axis).ravel(), np.delete(drawn, 0, axis).ravel()
    assert abs(np.corrcoef(one, next_one)[0, 1]) < 4 / 400
  assert abs(drawn.mean() - 0.5) < 0.003
  assert drawn.min() >= 0 and drawn.max() < 1


def test_a_key_depends_on_stream_seed_and_episode_only():
  whole = keys_of(100).numpy()
  some = counter_random.episode_keys("test", 0, tf.constant([70, 3], tf.int64)).numpy()
  assert some.tolist() == whole[[70, 3]].tolist()
  other_seed = keys_of(100, seed=1).numpy()
  other_stream = counter_random.episode_keys("tests", 0, tf.range(100, dtype=tf.int64)).numpy()
  assert len({*whole, *other_seed, *other_stream}) == 300


def test_seeds_may_be_tensors():
  for seed in (5, -5):
    keys = counter_random.episode_keys("test", tf.constant(seed), tf.range(9, dtype=tf.int64))
    assert keys.numpy().tolist() == keys_of(9, seed).numpy().tolist()


def test_permutations_hold_every_item_once_and_are_uniform():
  drawn = counter_random.permutations(keys_of(12_000), 3).numpy()
  possible = list(itertools.permutations(range(3)))
  counts = [int(np.all(drawn == order, axis=1).sum()) for order in possible]
  assert sum(counts) == 12_000
  assert stats.chisquare(counts).pvalue > 1e-3


def test_permutations_of_later_draws_are_others():
  first = counter_random.permutations(keys_of(20), 16).numpy()
  later = counter_random.permutations(keys_of(20), 16, first_draw=16).numpy()
  assert (np.sort(later) == np.arange(16)).all()
  assert (first != later).any(axis=1).all()


def test_xla_equals_eager():
  def draw(episodes):
    keys = counter_random.episode_keys("test", -7, episodes)
    return (
      keys,
      counter_random.bits(keys[:, None], tf.range(8)),
      counter_random.integers(keys, 1, 12),
      counter_random.uniforms(keys, 2),
      counter_random.permutations(keys, 5),
    )

  episodes = tf.range(64, dtype=tf.int64)
  for xla, eager in zip(tf.function(draw, jit_compile=True)(episodes), draw(episodes), strict=True):
    np.testing.assert_array_equal(xla, eager)
