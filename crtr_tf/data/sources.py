"""Where trajectories come from: a puzzle's own generator, or episodes recorded with TFDS.

All sources give the same elements (`TrajectoryBatch`) in an order that is a function of seed and
step, so that the pipeline behind them can be resumed anywhere.
"""

import numpy as np
import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.data import records
from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.puzzles import counter_random

# Splits of simulated data never share an episode: each has its own residue of the seed.
_SPLITS = ("train", "test")


class SimulatedTrajectories:
  """Trajectories made on the fly, each seen once: the paper's unlimited data.

  Args:
    puzzle: whose trajectories to make.
    split: "train" or "test"; the same seed gives disjoint trajectories for the two.
  """

  def __init__(self, puzzle: puzzles.Puzzle, split: str = "train"):
    if split not in _SPLITS:
      raise ValueError(f"split of simulated trajectories must be one of {_SPLITS}; got {split!r}.")
    self.puzzle = puzzle
    self.split = split
    self.state_shape = (puzzle.state_size,)
    self.dtype = tf.uint8

  def batches(self, num_trajectories: int, seed: int, first_step: int = 0) -> tf.data.Dataset:
    split_seed = len(_SPLITS) * seed + _SPLITS.index(self.split)

    def simulate(step: tf.Tensor) -> TrajectoryBatch:
      episodes = step * num_trajectories + tf.range(num_trajectories, dtype=tf.int64)
      states, _, lengths = self.puzzle.trajectories(split_seed, episodes)
      states = tf.ensure_shape(states, [num_trajectories, None, self.puzzle.state_size])
      return TrajectoryBatch(states, lengths, episodes)

    steps = tf.data.Dataset.range(first_step, np.iinfo(np.int64).max)
    return steps.map(simulate, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


class RecordedTrajectories:
  """Episodes of a prepared TFDS dataset in the RLDS schema, epoch after epoch.

  An epoch visits every episode at most once, so the trajectories of a batch are distinct. Shards
  are read in a random order, and episodes shuffled within windows of `shuffle_window`: memory is
  bounded by that window, whatever the size of the dataset.

  Args:
    episodes: what to read, see `records.open_directory` and `records.open_named`.
    shuffle_window: how many serialised episodes are held and shuffled at a time.
  """

  def __init__(self, episodes: records.RecordedEpisodes, shuffle_window: int = 16384):
    if shuffle_window < 1:
      raise ValueError(f"shuffle_window must be at least 1; got {shuffle_window}.")
    self.episodes = episodes
    self.shuffle_window = shuffle_window
    self.state_shape = episodes.state_shape
    self.dtype = episodes.dtype

  def batches(self, num_trajectories: int, seed: int, first_step: int = 0) -> tf.data.Dataset:
    per_epoch = self.episodes.count // num_trajectories
    if not per_epoch:
      raise ValueError(
        f"a batch needs {num_trajectories} distinct trajectories, but {self.episodes.description} "
        f"holds {self.episodes.count}; use a smaller batch or a larger dataset."
      )
    first_epoch, first_batch = divmod(first_step, per_epoch)

    def epoch_batches(epoch: tf.Tensor) -> tf.data.Dataset:
      skipped = tf.where(epoch == first_epoch, tf.constant(first_batch, tf.int64), 0)
      episodes = self._shuffled(seed, epoch, skipped * num_trajectories)
      return episodes.batch(num_trajectories, drop_remainder=True)

    epochs = tf.data.Dataset.range(first_epoch, np.iinfo(np.int64).max)
    return (
      epochs.flat_map(epoch_batches)
      .map(self.episodes.parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
      .prefetch(tf.data.AUTOTUNE)
    )

  def _shuffled(self, seed: int, epoch: tf.Tensor, skip: tf.Tensor) -> tf.data.Dataset:
    """The (number, serialised episode) elements of one epoch from the skip-th on."""
    window = self.shuffle_window
    epoch_key = counter_random.episode_keys("epochs", seed, epoch[None])
    shards = counter_random.permutations(epoch_key, self.episodes.num_shards)[0]
    first_window = skip // window
    ordered = self.episodes.read(shards, skip=first_window * window)

    def shuffle(number: tf.Tensor, episodes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      # Draw numbers from 2^32 on, so as not to meet those that ordered the shards.
      key = counter_random.bits(epoch_key, number[None] + 2**32)
      places = tf.range(tf.shape(episodes, tf.int64)[0])
      order = tf.argsort(tf.bitcast(counter_random.bits(key, places), tf.int64))
      positions = number * window + tf.gather(places, order)
      return self.episodes.numbers(shards, positions), tf.gather(episodes, order)

    windows = ordered.batch(window).enumerate(start=first_window).map(shuffle)
    return windows.unbatch().skip(skip - first_window * window)


def simulated_trajectories(puzzle: puzzles.Puzzle, split: str = "train") -> SimulatedTrajectories:
  """Trajectories made on the fly; see `SimulatedTrajectories`."""
  return SimulatedTrajectories(puzzle, split)


def tfds_trajectories(
  puzzle: puzzles.Puzzle, directory: str, split: str = "train", shuffle_window: int = 16384
) -> RecordedTrajectories:
  """Trajectories of a prepared dataset directory, which must be of this very puzzle."""
  episodes = records.open_directory(directory, split, puzzle)
  return RecordedTrajectories(episodes, shuffle_window)


def rlds_trajectories(
  name: str,
  split: str = "train",
  data_dir: str | None = None,
  observation_keys: tuple[str, ...] | None = None,
  drop_last_step: bool = False,
  shuffle_window: int = 16384,
) -> RecordedTrajectories:
  """Trajectories of any RLDS dataset that TFDS knows, such as "d4rl_adroit_pen/v0-human".

  Args:
    name: dataset and config, prepared beforehand.
    split: a TFDS split, also a part of one such as "train[:90%]".
    data_dir: where TFDS keeps its datasets, if not in the default place.
    observation_keys: which parts of a dictionary of observations to concatenate; None for a plain
      observation.
    drop_last_step: leaves out the last step of each episode. Some datasets (D4RL without recorded
      next observations) end terminal episodes with an observation of zeros.
    shuffle_window: see `RecordedTrajectories`.
  """
  episodes = records.open_named(name, split, data_dir, observation_keys, drop_last_step)
  return RecordedTrajectories(episodes, shuffle_window)
