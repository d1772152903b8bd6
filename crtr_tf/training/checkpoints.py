"""Checkpoints that survive being killed: written atomically, checked when read, older ones kept."""

import pathlib

import keras
import tensorflow as tf
from absl import logging

_DAMAGED = (  # what TensorFlow raises when it reads a file that was cut short or changed
  IndexError,
  tf.errors.DataLossError,
  tf.errors.OutOfRangeError,
  tf.errors.NotFoundError,
  tf.errors.InvalidArgumentError,
)


class Checkpoints:
  """The checkpoints of one run: the last few, and the best by some metric.

  Args:
    directory: where they are read from.
    write_to: where this host writes. Saving takes part in collectives, so all hosts save; only the
      chief saves in `directory`.
    model: built and compiled, so that all variables exist.
    keep: how many of the latest to keep.
  """

  def __init__(
    self, directory: pathlib.Path, write_to: pathlib.Path, model: keras.Model, keep: int
  ):
    self._step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
    self._best_value = tf.Variable(float("-inf"), trainable=False, name="best_value")
    self._checkpoint = tf.train.Checkpoint(
      weights=model.variables,
      optimizer=model.optimizer.variables,
      step=self._step,
      best_value=self._best_value,
    )
    self._read_from = directory
    self._latest = tf.train.CheckpointManager(
      self._checkpoint, str(write_to), keep, checkpoint_name="step"
    )
    self._best = tf.train.CheckpointManager(
      self._checkpoint, str(write_to / "best"), max_to_keep=1, checkpoint_name="step"
    )

  def save(self, step: int) -> None:
    """Writes the state after `step` steps."""
    self._step.assign(step)
    self._latest.save(checkpoint_number=step)

  def save_if_best(self, step: int, value: float) -> bool:
    """Keeps the state apart if `value` is the highest so far."""
    if value <= float(self._best_value):
      return False
    self._step.assign(step)
    self._best_value.assign(value)
    self._best.save(checkpoint_number=step)
    return True

  def restore_latest(self) -> int:
    """Restores the newest checkpoint that can be read and returns its step; 0 if there is none.

    Raises:
      ValueError: if there are checkpoints but none can be read.
    """
    return self._restore_newest(self._read_from)

  def restore(self, which: str) -> int:
    """Restores the "latest" or the "best" checkpoint and returns its step.

    Raises:
      ValueError: if there is none.
    """
    if which not in ("latest", "best"):
      raise ValueError(f"checkpoint must be latest or best; got {which!r}.")
    folder = self._read_from / "best" if which == "best" else self._read_from
    if not _newest_first(folder):
      raise ValueError(f"there is no {which} checkpoint in {folder}.")
    return self._restore_newest(folder)

  def _restore_newest(self, folder: pathlib.Path) -> int:
    paths = _newest_first(folder)
    for path in paths:
      if self._restore(path):
        return int(self._step)
    if paths:
      raise ValueError(f"none of the {len(paths)} checkpoints in {folder} can be read.")
    return 0

  def _restore(self, path: str) -> bool:
    try:
      self._checkpoint.restore(path).assert_existing_objects_matched().assert_consumed()
    except _DAMAGED as error:
      reason = str(error).splitlines()[0]
      logging.warning("checkpoint %s is damaged (%s); trying the one before.", path, reason)
      return False
    return True


def _newest_first(directory: pathlib.Path) -> list[str]:
  """Paths of the checkpoints in a folder, from its files, not from an index that may be stale."""
  found = {path.with_suffix("") for path in directory.glob("step-*.index")}
  return [str(path) for path in sorted(found, key=lambda p: -int(p.name.split("-")[1]))]
