"""Heuristics whose values are known exactly, and the plain search that the compiled one must equal.

The tests of the search share these.
"""

import functools
import math

import numpy as np
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles import base, exhaustive
from crtr_tf.puzzles.digit_jumper import UNREACHABLE, DigitJumper
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.search import reference

EIGHT_PUZZLE = NPuzzle(3)


@functools.cache
def eight_puzzle_distances() -> np.ndarray:
  """Moves to the solved board, by the rank of the permutation: [9!] float32."""
  with tf.init_scope():  # The first call may come from within a function that is being traced.
    solved = EIGHT_PUZZLE.goal(tf.zeros([1, 9], tf.uint8)).numpy()
    states, distances = exhaustive.distances_from(EIGHT_PUZZLE, solved)
    table = np.full(math.factorial(9), np.inf, np.float32)
    table[_permutation_ranks(states).numpy()] = distances
    return table


def eight_puzzle_distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  del goals  # There is only one.
  return tf.gather(eight_puzzle_distances(), _permutation_ranks(states))


def _permutation_ranks(states: tf.Tensor) -> tf.Tensor:
  """The number of each permutation in the order of a dictionary: [M, 9] -> [M] int32."""
  tiles = tf.cast(states, tf.int32)
  positions = np.arange(9)
  later = positions[:, None] < positions[None, :]
  smaller_later = (tiles[:, :, None] > tiles[:, None, :]) & later
  digits = tf.reduce_sum(tf.cast(smaller_later, tf.int32), axis=2)
  return tf.reduce_sum(digits * [math.factorial(8 - i) for i in range(9)], axis=1)


def jumper_heuristic(puzzle: DigitJumper) -> search.Heuristic:
  """Exact distances: the context of a goal is the distance of every cell of its board."""

  def prepare(goals: tf.Tensor) -> tf.Tensor:
    distances = puzzle.exact_distances(goals)
    return tf.where(distances == UNREACHABLE, np.inf, tf.cast(distances, tf.float32))

  def distance(states: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
    return tf.gather(contexts, puzzle.players(states), batch_dims=1)

  return search.Heuristic(prepare, distance)


class RoughDistance:
  """Cells that differ from the goal, plus noise: whole numbers with many ties, often misleading.

  Two ways to the same values, one for the compiled search and one for the plain one.
  """

  def __init__(self, puzzle: base.Puzzle, noise: int = 4):
    self.puzzle = puzzle
    self.noise = noise
    self._weights = np.random.default_rng(0).integers(0, 1000, puzzle.state_size, np.int32)

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    differing = tf.reduce_sum(tf.cast(states != goals, tf.int32), axis=1)
    mixed = tf.reduce_sum(tf.cast(states, tf.int32) * self._weights, axis=1)
    return tf.cast(differing + mixed % self.noise, tf.float32)

  def plain(self, start: np.ndarray) -> reference.StateDistance:
    goal = self.puzzle.goal(tf.constant(start)[None])[0].numpy()
    return lambda state: float(np.sum(state != goal) + np.sum(state * self._weights) % self.noise)


def assert_equal_to_reference(
  result: search.SearchResult, solutions: list[reference.Solution]
) -> None:
  assert len(solutions) == len(result.solved)
  assert result.nodes.numpy().tolist() == [one.nodes for one in solutions]
  assert result.expanded.numpy().tolist() == [one.expanded for one in solutions]
  assert [result.plan(i) for i in range(len(solutions))] == [one.plan for one in solutions]


def assert_plans_solve(
  puzzle: base.Puzzle,
  starts: np.ndarray,
  result: search.SearchResult,
  may_return: bool = False,
) -> None:
  """Replays every plan and checks the padding behind it.

  Unless a plan `may_return` it must not visit a state twice.
  """
  for start, plan, length, solved in zip(
    starts, result.plans.numpy(), result.lengths.numpy(), result.solved.numpy(), strict=True
  ):
    assert (plan[length:] == base.NO_ACTION).all()
    assert (plan[:length] != base.NO_ACTION).all()
    if not solved:
      assert length == 0
      continue
    states = base.replay(puzzle, start, plan[:length])
    assert puzzle.is_solved(states).numpy().nonzero()[0].tolist() == [length]
    assert may_return or len(np.unique(states, axis=0)) == length + 1


def assert_same(first: search.SearchResult, second: search.SearchResult) -> None:
  for field, one, other in zip(first._fields, first, second, strict=True):
    np.testing.assert_array_equal(one.numpy(), other.numpy(), err_msg=field)
