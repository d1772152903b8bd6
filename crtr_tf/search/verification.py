"""Replays plans: nothing is reported as solved that the rules do not say is solved."""

import functools
from collections.abc import Callable

import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search.result import SearchResult


def verify(puzzle: base.Puzzle, states: tf.Tensor, result: SearchResult) -> tf.Tensor:
  """Whether each result is true: a plan that solves its problem, or no claim that there is one.

  Args:
    puzzle: the rules.
    states: [P, S] uint8, the problems.
    result: of a solver.

  Returns:
    [P] bool.
  """
  ends = _replayed(puzzle)(states, result.plans, result.lengths)
  return ~result.solved | puzzle.is_solved(ends)


@functools.lru_cache(maxsize=16)
def _replayed(puzzle: base.Puzzle) -> Callable[..., tf.Tensor]:
  """A function to where plans [P, M] of some lengths [P] lead from states [P, S]: [P, S]."""

  def replay(states: tf.Tensor, plans: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    def apply(step: tf.Tensor, states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      moved = puzzle.apply(states, tf.maximum(plans[:, step], 0))
      return step + 1, tf.where((step < lengths)[:, None], moved, states)

    longest = tf.reduce_max(tf.concat([lengths, [0]], axis=0))
    return tf.while_loop(lambda step, _: step < longest, apply, (0, states))[1]

  spec = [
    tf.TensorSpec([None, puzzle.state_size], tf.uint8),
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None], tf.int32),
  ]
  return tf.function(replay, input_signature=spec, autograph=False)
