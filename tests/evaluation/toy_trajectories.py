"""Trajectories whose measures are known, for the tests of the evaluation."""

import numpy as np
import tensorflow as tf

from crtr_tf.data import TrajectoryBatch


def padded(trajectories: list[np.ndarray]) -> TrajectoryBatch:
  """Trajectories [length, S] of any lengths, behind which is what would spoil any result."""
  longest = max(len(states) for states in trajectories)
  padding = [np.full((longest - len(states), states.shape[1]), -1e9) for states in trajectories]
  rows = [np.concatenate(pair) for pair in zip(trajectories, padding, strict=True)]
  return TrajectoryBatch(
    tf.constant(np.stack(rows), tf.float32),
    tf.constant([len(states) for states in trajectories]),
    tf.range(len(trajectories), dtype=tf.int64),
  )


def counting(lengths: list[int]) -> TrajectoryBatch:
  """Trajectories whose state at time t is [t, noise]."""
  rng = np.random.default_rng(0)
  return padded(
    [np.stack([np.arange(length), rng.normal(size=length)], axis=1) for length in lengths]
  )


class Clocks:
  """A source of trajectories [context, time]: the context is the trajectory's own number."""

  state_shape = (2,)
  dtype = tf.float32

  def __init__(self, length: int = 20):
    self.length = length

  def batches(self, num_trajectories: int, seed: int, first_step: int = 0) -> tf.data.Dataset:
    del seed

    def make(step: tf.Tensor) -> TrajectoryBatch:
      episodes = step * num_trajectories + tf.range(num_trajectories, dtype=tf.int64)
      contexts = tf.repeat(tf.cast(episodes, tf.float32)[:, None], self.length, axis=1)
      times = tf.zeros_like(contexts) + tf.range(self.length, dtype=tf.float32)
      lengths = tf.fill([num_trajectories], self.length)
      return TrajectoryBatch(tf.stack([contexts, times], axis=-1), lengths, episodes)

    return tf.data.Dataset.range(first_step, np.iinfo(np.int64).max).map(make)
