"""Counter-based random numbers: every draw is a pure function of its coordinates.

`bits(key, draw)` mixes a key with a draw number (the SplitMix64 finaliser), so episode 17 of a
seed holds the same draws whether it is made alone, in a batch of 512, by another process, under XLA
or eagerly. `tf.random.stateless_*` draws for a whole batch at once, which ties an episode to its
position in the batch, and costs about fifty times as much under XLA on a CPU.
"""

import zlib

import tensorflow as tf

_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, the increment of SplitMix64


def mix64(x: tf.Tensor) -> tf.Tensor:
  """The SplitMix64 finaliser, a bijection of uint64 that spreads every bit. Any shape."""
  for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
    x = _xor_shift(x, shift) * tf.constant(multiplier, tf.uint64)
  return _xor_shift(x, 31)


def episode_keys(stream: str, seed: int, episodes: tf.Tensor) -> tf.Tensor:
  """One key per episode, different for every (stream, seed, episode).

  Args:
    stream: what the draws are for ("trajectories", "instances"); streams never share keys.
    seed: the user's seed, any integer (or integer tensor).
    episodes: [B] int64 episode numbers.

  Returns:
    [B] uint64 keys for `bits` and its relatives.
  """
  tag = tf.constant(zlib.crc32(stream.encode()), tf.uint64)
  base = mix64(_to_uint64(seed) * tf.constant(_GOLDEN, tf.uint64) + tag)
  return mix64(base + _to_uint64(episodes) * tf.constant(_GOLDEN, tf.uint64))


def bits(keys: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
  """64 random bits for every key and draw number; the two broadcast. uint64."""
  counter = _to_uint64(draws) + tf.constant(1, tf.uint64)
  return mix64(keys + counter * tf.constant(_GOLDEN, tf.uint64))


def integers(keys: tf.Tensor, draws: tf.Tensor, bound: int | tf.Tensor) -> tf.Tensor:
  """Uniform int32 in [0, bound); `bound` broadcasts. Bias below bound / 2^32."""
  high = _shift_right(bits(keys, draws), 32)
  return tf.cast(_shift_right(high * _to_uint64(bound), 32), tf.int32)


def uniforms(keys: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
  """Uniform float32 in [0, 1), 24 bits of resolution."""
  return tf.cast(_shift_right(bits(keys, draws), 40), tf.float32) * 2.0**-24


def permutations(keys: tf.Tensor, size: int, first_draw: int = 0) -> tf.Tensor:
  """A uniformly random permutation of `size` items per key: [B] -> [B, size] int32.

  Uses the draws first_draw .. first_draw + size - 1.
  """
  draws = tf.range(first_draw, first_draw + size, dtype=tf.int64)
  # Sorting int64 and uint64 orders differently, but either order of random bits is uniform.
  sort_keys = tf.bitcast(bits(keys[:, None], draws[None, :]), tf.int64)
  return tf.argsort(sort_keys, axis=-1)


def _to_uint64(x: int | tf.Tensor) -> tf.Tensor:
  if isinstance(x, int):
    return tf.constant(x % 2**64, tf.uint64)
  return tf.cast(x, tf.uint64)


def _shift_right(x: tf.Tensor, count: int) -> tf.Tensor:
  return tf.bitwise.right_shift(x, tf.constant(count, tf.uint64))


def _xor_shift(x: tf.Tensor, count: int) -> tf.Tensor:
  return tf.bitwise.bitwise_xor(x, _shift_right(x, count))
