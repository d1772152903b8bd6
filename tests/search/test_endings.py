"""Every search ends: whatever the heuristic says, however many problems there are."""

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles.lights_out import LightsOut
from tests.search import oracles

PUZZLE = LightsOut(3, 3)

SOLVERS: dict[str, Callable[..., search.Solver]] = {
  "best first": lambda distance, **options: search.BestFirstSolver(PUZZLE, distance, 60, **options),
  "A* of several": lambda distance, **options: search.BestFirstSolver(
    PUZZLE, distance, 60, alpha=1.0, top_k=2, expand_batch=5, **options
  ),
  "greedy": lambda distance, **options: search.GreedySolver(PUZZLE, distance, 30, **options),
  "beam": lambda distance, **options: search.BeamSolver(PUZZLE, distance, 8, 6, **options),
}


def fill(value: float) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
  return lambda states, goals: tf.fill(tf.shape(states)[:1], value)


def alternating(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  """NaN, both infinities and numbers, by the number of lights that are on."""
  del goals
  values = tf.constant([0.0, np.nan, -np.inf, 3e38, np.inf, -3e38, 1.0, np.nan, -np.inf, 2.0])
  return tf.gather(values, tf.reduce_sum(tf.cast(states, tf.int32), axis=1))


@pytest.mark.parametrize("name", SOLVERS)
def test_lanes_without_a_problem_are_finished(name: str):
  """A batch is padded, so there are lanes that no problem ever comes to."""
  solver = SOLVERS[name](fill(0.0), num_lanes=8, jit_compile=False)
  states = PUZZLE.instances(0, tf.range(8, dtype=tf.int64))
  assert np.all(solver.algorithm.finished(solver.algorithm.empty(states)))


@pytest.mark.parametrize("name", SOLVERS)
def test_any_number_of_problems(name: str):
  """Fewer than lanes, as many, more; sizes that are padded and sizes that are not."""
  rough = oracles.RoughDistance(PUZZLE)
  starts = PUZZLE.instances(0, tf.range(11, dtype=tf.int64)).numpy()
  starts[4] = 0
  solver = SOLVERS[name](rough, num_lanes=3, jit_compile=False)
  results = {count: solver.solve(starts[:count]) for count in (0, 1, 3, 5, 11)}
  for count, result in results.items():
    assert [part.shape[0] for part in result] == [count] * 5
    for problem in range(count):
      assert result.plan(problem) == results[11].plan(problem)
      assert result.nodes[problem] == results[11].nodes[problem]
  oracles.assert_plans_solve(PUZZLE, starts, results[11], may_return=name == "beam")


@pytest.mark.parametrize("name", SOLVERS)
def test_distances_that_are_no_numbers(name: str):
  """A start is expanded whatever the distance; a solved child is seen, the others lead nowhere."""
  starts = PUZZLE.instances(0, tf.range(5, dtype=tf.int64)).numpy()
  starts[1], starts[2] = 0, PUZZLE.children(tf.zeros([1, 9], tf.uint8)).states[0, 3]
  for value in (np.nan, np.inf):
    result = SOLVERS[name](fill(value), num_lanes=2, jit_compile=False).solve(starts)
    assert result.solved.numpy().tolist() == [False, True, True, False, False]
    assert result.plan(1) == [] and result.plan(2) == [3]
    assert result.expanded.numpy().tolist() == [1, 0, 1, 1, 1]
  mixed = SOLVERS[name](alternating, num_lanes=2, jit_compile=False).solve(starts)
  oracles.assert_plans_solve(PUZZLE, starts, mixed, may_return=name == "beam")


@pytest.mark.parametrize("options", [{}, {"top_k": 1, "expand_batch": 4}])
def test_a_budget_of_one_node_is_the_start(options: dict[str, int]):
  starts = PUZZLE.instances(0, tf.range(6, dtype=tf.int64)).numpy()
  starts[3] = 0
  solver = search.BestFirstSolver(PUZZLE, fill(0.0), 1, num_lanes=2, jit_compile=False, **options)
  result = solver.solve(starts)
  assert result.nodes.numpy().tolist() == [1] * 6 and result.expanded.numpy().sum() == 0
  assert result.solved.numpy().tolist() == [False, False, False, True, False, False]


def test_a_whole_space_is_searched_to_its_end():
  """More budget than there are states: it ends when nothing is open."""
  row = LightsOut(1, 5)  # Its presses depend on each other: four of them give all that five can.
  starts = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]], np.uint8)
  assert [row.optimal_presses(start) is None for start in starts] == [True, False, True]
  result = search.BestFirstSolver(row, fill(0.0), 1000, num_lanes=2, jit_compile=False).solve(
    starts
  )
  assert result.solved.numpy().tolist() == [False, True, False]
  assert result.nodes.numpy()[[0, 2]].tolist() == [16, 16]
  assert result.expanded.numpy()[[0, 2]].tolist() == [16, 16]
