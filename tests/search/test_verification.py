"""What a search claims is checked against the rules: true plans pass, false ones do not."""

import numpy as np
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles import base
from crtr_tf.puzzles.lights_out import LightsOut

PUZZLE = LightsOut(2, 2)  # A press flips all but the opposite corner.
NO = base.NO_ACTION


def claimed(solved: list[bool], plans: list[list[int]], lengths: list[int]) -> search.SearchResult:
  """A result that says so, whatever is true."""
  unknown = tf.zeros(len(solved), tf.int32)
  return search.SearchResult(
    tf.constant(solved), tf.constant(plans, tf.int32), tf.constant(lengths), unknown, unknown
  )


def test_plans_are_believed_only_if_they_solve():
  one_press, two_presses = [1, 1, 1, 0], [1, 0, 0, 1]  # of cell 0; of cells 0 and 3
  states = tf.constant([one_press, one_press, two_presses, two_presses, one_press], tf.uint8)
  result = claimed(
    solved=[True, True, True, True, False],
    plans=[[0, NO], [1, NO], [0, 3], [0, NO], [NO, NO]],
    lengths=[1, 1, 2, 1, 0],
  )
  verdicts = search.verify(PUZZLE, states, result).numpy()
  # The last one claims nothing, which is no lie.
  assert verdicts.tolist() == [True, False, True, False, True]


def test_actions_behind_the_end_of_a_plan_do_not_count():
  states = tf.constant([[1, 1, 1, 0]], tf.uint8)
  assert search.verify(PUZZLE, states, claimed([True], [[0, 0]], [1])).numpy().all()
  assert not search.verify(PUZZLE, states, claimed([True], [[0, 0]], [2])).numpy().any()


def test_an_empty_plan_solves_what_is_solved_and_nothing_else():
  states = np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.uint8)
  result = claimed([True, True], [[NO], [NO]], [0, 0])
  assert search.verify(PUZZLE, tf.constant(states), result).numpy().tolist() == [True, False]


def test_no_problems_are_no_problem():
  nothing = search.SearchResult(
    tf.zeros([0], tf.bool), *(tf.zeros(shape, tf.int32) for shape in ([0, 0], [0], [0], [0]))
  )
  assert search.verify(PUZZLE, tf.zeros([0, 4], tf.uint8), nothing).shape == [0]
