"""Distances averaged over the symmetries of a puzzle: fewer nodes for more work on each.

A puzzle that is turned or mirrored is as far from its goal as before, but a network says so only
roughly. The mean over several such views is nearer to the truth than one of them.

Axes: M states, K symmetries, S cells.
"""

from typing import Any

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import heuristic as heuristics


def symmetry_averaged(source: Any, puzzle: base.Puzzle, count: int) -> heuristics.Heuristic:
  """The mean distance of a state and its goal, both seen under `count` symmetries.

  Args:
    source: the distance, see `as_heuristic`; each call costs `count` of its calls.
    puzzle: whose symmetries to take.
    count: how many, evenly spread; the first changes nothing, so 1 is the source itself. More than
      the puzzle has means all of them.
  """
  if count < 1:
    raise ValueError(f"symmetries must be at least 1; got {count}.")
  heuristic = heuristics.as_heuristic(source)
  cells, values = puzzle.symmetries()
  total = len(cells)
  if min(count, total) == 1:
    return heuristic
  chosen = np.arange(min(count, total)) * total // min(count, total)

  def views(states: tf.Tensor) -> tf.Tensor:
    """[M, S] -> [M * K, S]."""
    images = tf.gather(states, tf.constant(cells[chosen]), axis=1)  # [M, K, S]
    if values is not None:
      names = tf.constant(values[chosen].reshape(-1))
      first = tf.constant(np.arange(len(chosen)) * values.shape[1], tf.int32)[None, :, None]
      images = tf.gather(names, first + tf.cast(images, tf.int32))
    return tf.reshape(images, [-1, puzzle.state_size])

  def prepare(goals: tf.Tensor) -> tf.Tensor:
    """[P, S] -> [P, K, ...]."""
    contexts = heuristic.prepare(views(goals))
    return tf.reshape(contexts, [-1, len(chosen), *contexts.shape[1:]])

  def distance(states: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
    contexts = tf.reshape(contexts, [-1, *contexts.shape[2:]])
    seen = heuristic.distance(views(states), contexts)
    return tf.reduce_mean(tf.reshape(seen, [-1, len(chosen)]), axis=1)

  return heuristics.Heuristic(prepare, distance)
