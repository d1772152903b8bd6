"""tf.data pipelines: trajectories in, training batches out.

Element number i of a pipeline is the batch of training step first_step + i, and depends on nothing
but the source, the seed and that number: a run resumed at step k sees what it would have seen.
"""

from collections.abc import Callable
from typing import Protocol

import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.data import sampling
from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.puzzles import counter_random

Batch = dict[str, tf.Tensor]
_STATES = ("states", "goals", "negatives")  # what of a batch is states


class TrajectorySource(Protocol):
  """Where trajectories come from."""

  state_shape: tuple[int, ...]
  dtype: tf.DType

  def batches(self, num_trajectories: int, seed: int, first_step: int = 0) -> tf.data.Dataset:
    """Endless TrajectoryBatch elements of distinct trajectories, for steps first_step, ..."""
    ...


def contrastive_batches(
  source: TrajectorySource,
  batch_size: int,
  repetition_factor: int,
  discount: float,
  seed: int,
  first_step: int = 0,
  min_offset: int = 1,
  negatives: str | None = None,
  last_goal_share: float = 0.0,
) -> tf.data.Dataset:
  """Positive pairs for the contrastive loss; every other row of the batch is a negative.

  Each of batch_size / repetition_factor distinct trajectories contributes `repetition_factor`
  adjacent rows. Factor 1 is CRL; with 2 or more, rows share their context with a negative: CRTR.

  Args:
    source: the trajectories.
    batch_size: pairs in a batch, B.
    repetition_factor: pairs from one trajectory.
    discount: of the geometric distribution of offsets, in (0, 1).
    seed: all draws follow from it.
    first_step: the training step that the first element is for.
    min_offset: smallest offset of a positive, 1 or 0.
    negatives: adds extra in-trajectory negatives by this strategy, see `sampling.negatives`.
    last_goal_share: share of the pairs whose goal is the last state, in [0, 1].

  Returns:
    Endless dataset of dicts: `states` and `goals` [B, *S]; `groups` [B] int64, equal where rows
    come from the same trajectory; `offsets` [B] int32; and `negatives` [B, *S] if asked for.
  """
  num_groups = _num_groups(batch_size, repetition_factor)
  if not 0 < discount < 1:
    raise ValueError(f"discount must lie between 0 and 1, both excluded; got {discount}.")
  if min_offset not in (0, 1):
    raise ValueError(f"min_offset must be 0 or 1; got {min_offset}.")
  if not 0 <= last_goal_share <= 1:
    raise ValueError(f"last_goal_share must lie between 0 and 1; got {last_goal_share}.")
  if negatives is not None and negatives not in sampling.NEGATIVE_STRATEGIES:
    raise ValueError(
      f"negatives must be None or one of {sampling.NEGATIVE_STRATEGIES}; got {negatives!r}."
    )

  def sample(keys: tf.Tensor, trajectories: TrajectoryBatch) -> Batch:
    lengths = trajectories.lengths
    anchors, offsets = sampling.geometric_pairs(
      keys, lengths, discount, min_offset, last_goal_share
    )
    batch = {
      "states": sampling.take(trajectories.states, anchors),
      "goals": sampling.take(trajectories.states, anchors + offsets),
      "groups": tf.repeat(trajectories.episodes, repetition_factor),
      "offsets": tf.reshape(offsets, [-1]),
    }
    if negatives is not None:
      positions = sampling.negatives(keys, lengths, anchors, negatives)
      batch["negatives"] = sampling.take(trajectories.states, positions)
    return batch

  return _sampled(source, num_groups, repetition_factor, seed, first_step, sample)


def supervised_batches(
  source: TrajectorySource, batch_size: int, seed: int, first_step: int = 0
) -> tf.data.Dataset:
  """Pairs and their distance: `states`, `goals` [B, *S] and `distances` [B] int32, in steps."""

  def sample(keys: tf.Tensor, trajectories: TrajectoryBatch) -> Batch:
    anchors, distances = sampling.uniform_pairs(keys, trajectories.lengths)
    return {
      "states": sampling.take(trajectories.states, anchors),
      "goals": sampling.take(trajectories.states, anchors + distances),
      "distances": tf.reshape(distances, [-1]),
    }

  return _sampled(source, _num_groups(batch_size, 1), 1, seed, first_step, sample)


def scrambled_batches(
  source: TrajectorySource, batch_size: int, seed: int, first_step: int = 0
) -> tf.data.Dataset:
  """States at uniform distance along their trajectories: dicts of `states` [B, *S]."""

  def sample(keys: tf.Tensor, trajectories: TrajectoryBatch) -> Batch:
    positions = sampling.uniform_states(keys, trajectories.lengths)
    return {"states": sampling.take(trajectories.states, positions)}

  return _sampled(source, _num_groups(batch_size, 1), 1, seed, first_step, sample)


def augmented(
  batches: tf.data.Dataset, puzzle: puzzles.Puzzle, seed: int, first_step: int = 0
) -> tf.data.Dataset:
  """Batches of any of the above, every trajectory under a random symmetry of the puzzle.

  All rows of a trajectory are turned alike, so they still share their context; in the next epoch it
  is turned another way. Cheaper here than for whole trajectories, of which few states are taken.

  Args:
    batches: for steps first_step, ...
    puzzle: whose symmetries to draw from.
    seed: of the draws.
    first_step: the training step that the first element is for.
  """
  num_symmetries = len(puzzle.symmetries().cells)

  def augment(step: tf.Tensor, batch: Batch) -> Batch:
    rows = tf.range(batch["states"].shape[0], dtype=tf.int64)
    key = counter_random.episode_keys("symmetries", seed, step[None])
    numbers = counter_random.integers(key, batch.get("groups", rows), num_symmetries)
    images = {
      name: tf.ensure_shape(puzzle.symmetric_images(batch[name], numbers), batch[name].shape)
      for name in _STATES
      if name in batch
    }
    return {**batch, **images}

  steps = batches.enumerate(first_step)
  return steps.map(augment, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).prefetch(
    tf.data.AUTOTUNE
  )


def check_replicas(batch_size: int, repetition_factor: int, num_replicas: int) -> None:
  """Raises ValueError unless a batch can be cut into equal parts of whole trajectories."""
  if batch_size % (num_replicas * repetition_factor):
    raise ValueError(
      "batch_size must be divisible by num_replicas * repetition_factor, so that no trajectory is "
      f"torn apart; got {batch_size}, {num_replicas} and {repetition_factor}."
    )


def read_trajectories(source: TrajectorySource, count: int, seed: int) -> TrajectoryBatch:
  """A fixed set of `count` distinct trajectories, for evaluation. Eager."""
  return next(iter(source.batches(count, seed)))


def _sampled(
  source: TrajectorySource,
  num_groups: int,
  repetition_factor: int,
  seed: int,
  first_step: int,
  sample: Callable[[tf.Tensor, TrajectoryBatch], Batch],
) -> tf.data.Dataset:
  """Applies `sample` to every trajectory batch with the keys of its step."""

  def at_step(step: tf.Tensor, trajectories: TrajectoryBatch) -> Batch:
    keys = sampling.step_keys(seed, step, num_groups, repetition_factor)
    batch = sample(keys, trajectories)
    rows = num_groups * repetition_factor
    return {name: tf.ensure_shape(x, [rows, *x.shape[1:]]) for name, x in batch.items()}

  trajectories = source.batches(num_groups, seed, first_step)
  return (
    trajectories.enumerate(start=first_step)
    .map(at_step, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    .prefetch(tf.data.AUTOTUNE)
  )


def _num_groups(batch_size: int, repetition_factor: int) -> int:
  for name, value in (("batch_size", batch_size), ("repetition_factor", repetition_factor)):
    if value < 1:
      raise ValueError(f"{name} must be at least 1; got {value}.")
  if batch_size % repetition_factor:
    raise ValueError(
      f"repetition_factor must divide batch_size; got {repetition_factor} and {batch_size}."
    )
  return batch_size // repetition_factor
