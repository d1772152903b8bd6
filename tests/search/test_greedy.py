"""Greedy walks: nearest unvisited neighbour, up to a limit, until boxed in."""

import numpy as np
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles.digit_jumper import DigitJumper
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.search import reference
from tests.search import oracles

MAX_STEPS = 200


def test_a_walk_is_the_plain_one():
  rough = oracles.RoughDistance(oracles.EIGHT_PUZZLE, noise=2)
  walks = NPuzzle(3, trajectory_moves=20).trajectories(0, tf.range(32, dtype=tf.int64)).states
  starts = walks[:, 8].numpy()
  starts[3] = walks[3, -1]  # Already solved.
  result = search.GreedySolver(rough.puzzle, rough, MAX_STEPS, num_lanes=4).solve(starts)
  plain = [reference.greedy(rough.puzzle, rough.plain(one), one, MAX_STEPS) for one in starts]
  oracles.assert_equal_to_reference(result, plain)
  oracles.assert_plans_solve(rough.puzzle, starts, result)
  assert result.plan(3) == [] and result.nodes[3] == 1
  # There are walks that arrive, walks that are boxed in and walks that take too long.
  unsolved_nodes = result.nodes.numpy()[~result.solved.numpy()]
  assert 3 < result.solved.numpy().sum() < len(starts)
  assert unsolved_nodes.max() == MAX_STEPS + 1 and unsolved_nodes.min() < MAX_STEPS


def test_exact_distances_lead_straight_to_the_goal():
  puzzle = DigitJumper(6, 6)
  starts = puzzle.instances(1, tf.range(16, dtype=tf.int64)).numpy()
  starts[2] = 5  # All digits are 6: no jump is possible.
  starts[2, 0] += 6
  heuristic = oracles.jumper_heuristic(puzzle)
  result = search.GreedySolver(puzzle, heuristic, 36, num_lanes=4, jit_compile=False).solve(starts)
  optimal = puzzle.optimal_lengths(tf.constant(starts)).numpy()
  np.testing.assert_array_equal(np.where(result.solved, result.lengths, -1), optimal)
  np.testing.assert_array_equal(result.nodes, np.maximum(optimal, 0) + 1)
  assert (result.nodes[2], result.expanded[2], result.plan(2)) == (1, 1, None)
  oracles.assert_plans_solve(puzzle, starts, result)
