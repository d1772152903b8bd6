"""Beam search against the plain one."""

import numpy as np
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles.lights_out import LightsOut
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.search import reference
from tests.search import oracles


def _assert_equal_to_reference(result, rough, starts, width, max_depth) -> None:
  plain = [reference.beam(rough.puzzle, rough.plain(one), one, width, max_depth) for one in starts]
  oracles.assert_equal_to_reference(result, plain)
  oracles.assert_plans_solve(rough.puzzle, starts, result, may_return=True)


def test_the_8_puzzle():
  rough = oracles.RoughDistance(oracles.EIGHT_PUZZLE)
  walks = NPuzzle(3, trajectory_moves=24).trajectories(0, tf.range(16, dtype=tf.int64)).states
  starts = walks.numpy()[np.arange(16), np.arange(16)]
  starts[3] = walks[3, -1]  # Already solved.
  result = search.BeamSolver(rough.puzzle, rough, 12, 25, num_lanes=4).solve(starts)
  _assert_equal_to_reference(result, rough, starts, 12, 25)
  assert result.plan(3) == [] and result.nodes[3] == 1
  assert 5 < result.solved.numpy().sum() < 16  # Some needed more than the limit of depth.


def test_presses_that_commute_lead_to_many_duplicates():
  rough = oracles.RoughDistance(LightsOut(3, 3))
  starts = rough.puzzle.instances(0, tf.range(16, dtype=tf.int64)).numpy()
  solver = search.BeamSolver(rough.puzzle, rough, 90, 5, num_lanes=4, jit_compile=False)
  result = solver.solve(starts)
  _assert_equal_to_reference(result, rough, starts, 90, 5)
  # The first layers hold every board that so many presses lead to, each once. As long as all of
  # them fit, a plan is shortest, whatever the heuristic.
  presses = np.array([rough.puzzle.optimal_presses(start).sum() for start in starts])
  within = presses <= 4
  np.testing.assert_array_equal(result.lengths.numpy()[within], presses[within])
  unsolved = ~result.solved.numpy()
  assert within.sum() > 3 and unsolved.any()
  assert (result.expanded.numpy()[unsolved] == 1 + 9 + 36 + 84 + 90).all()
