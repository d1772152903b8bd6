"""Solve rates where the answer is known."""

import itertools

import numpy as np
import tensorflow as tf

from crtr_tf.evaluation import success
from crtr_tf.puzzles import LightsOut

PUZZLE = LightsOut(3, 3)  # 512 states, all of them solvable by at most nine presses


def indifferent(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  return tf.zeros([tf.shape(states)[0]])


def test_a_budget_for_all_states_solves_everything_and_one_node_nothing():
  for budget, rate in ((512, 1.0), (1, 0.0)):
    evaluator = success.solve_rate(PUZZLE, num_instances=20, budget=budget)
    assert evaluator(indifferent) == {"solve_rate": rate}


def test_a_better_heuristic_solves_more():
  boards = np.array(list(itertools.product((0, 1), repeat=9)), np.uint8)
  presses = [PUZZLE.optimal_presses(board).sum() for board in boards]
  places = 2 ** np.arange(9)[::-1]
  table = np.zeros(512, np.float32)
  table[boards @ places] = presses

  def exact(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    del goals
    index = tf.reduce_sum(tf.cast(states, tf.int32) * places.astype(np.int32), axis=-1)
    return tf.gather(tf.constant(table), index)

  evaluator = success.SolveRate(PUZZLE, num_instances=20, budget=82)
  assert evaluator(exact)["solve_rate"] == 1.0 > evaluator(indifferent)["solve_rate"]
