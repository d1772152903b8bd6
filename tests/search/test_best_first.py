"""Best-first search and A*: exact distances give shortest plans, and every search is the plain one.

The lanes are far fewer than the problems, so all of this also tests that they are refilled.
"""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles.digit_jumper import DigitJumper
from crtr_tf.puzzles.lights_out import LightsOut
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.search import reference
from tests.search import oracles

PROBLEMS = 32
BUDGET = 150


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
  """8-puzzles: random ones, a solved one and many that are nearly solved."""
  boards = oracles.EIGHT_PUZZLE.instances(0, tf.range(PROBLEMS, dtype=tf.int64)).numpy()
  walks = NPuzzle(3, trajectory_moves=14).trajectories(0, tf.range(12, dtype=tf.int64)).states
  boards[12:24] = walks.numpy()[np.arange(12), np.arange(12)]
  boards[5] = walks[0, -1]
  return boards


class CountedTraces:
  """Exact distances; counts how often it is traced."""

  def __init__(self):
    self.count = 0

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    self.count += 1
    return oracles.eight_puzzle_distance(states, goals)


@pytest.fixture(scope="module")
def exact() -> CountedTraces:
  return CountedTraces()


@pytest.fixture(scope="module")
def exact_solver(exact) -> search.BestFirstSolver:
  return search.BestFirstSolver(oracles.EIGHT_PUZZLE, exact, BUDGET, num_lanes=8)


def test_exact_distances_give_shortest_plans(exact_solver, boards):
  result = exact_solver.solve(boards)
  optimal = oracles.eight_puzzle_distance(boards, boards).numpy()
  assert result.solved.numpy().all()
  np.testing.assert_array_equal(result.lengths, optimal)
  # With exact distances every expansion goes one step further.
  np.testing.assert_array_equal(result.expanded, optimal)
  oracles.assert_plans_solve(oracles.EIGHT_PUZZLE, boards, result)


def test_a_star_with_exact_distances_gives_shortest_plans(exact, boards):
  solver = search.BestFirstSolver(oracles.EIGHT_PUZZLE, exact, BUDGET, alpha=1.0, num_lanes=8)
  result = solver.solve(boards)
  np.testing.assert_array_equal(result.lengths, oracles.eight_puzzle_distance(boards, boards))
  oracles.assert_plans_solve(oracles.EIGHT_PUZZLE, boards, result)


def test_a_solved_start_has_the_empty_plan(exact_solver, boards):
  result = exact_solver.solve(boards)
  assert result.plan(5) == []
  assert (result.nodes[5], result.expanded[5]) == (1, 0)


def test_a_result_does_not_depend_on_neighbours_or_position(exact_solver, boards):
  result = exact_solver.solve(boards)
  order = np.random.default_rng(0).permutation(PROBLEMS)
  shuffled = exact_solver.solve(boards[order])
  oracles.assert_same(search.SearchResult(*(tf.gather(part, order) for part in result)), shuffled)
  with_others = boards.copy()
  with_others[::2] = boards[1]
  again = exact_solver.solve(with_others)
  for problem in range(1, PROBLEMS, 2):
    assert again.plan(problem) == result.plan(problem)
    assert again.nodes[problem] == result.nodes[problem]


def test_equal_inputs_give_equal_results_without_another_trace(exact, exact_solver, boards):
  result = exact_solver.solve(boards)
  traces = exact.count
  assert traces > 0
  oracles.assert_same(result, exact_solver.solve(boards))
  fewer = exact_solver.solve(boards[:20])  # Padded to the same size.
  assert [fewer.plan(i) for i in range(20)] == [result.plan(i) for i in range(20)]
  assert exact.count == traces


CONFIGURATIONS = {
  "A*": {"alpha": 0.5},
  "several at once": {"expand_batch": 3, "top_k": 2, "alpha": 2.0, "jit_compile": False},
}


def _plain_results(
  rough: oracles.RoughDistance, starts: np.ndarray, budget: int, **options
) -> list[reference.Solution]:
  return [
    reference.best_first(rough.puzzle, rough.plain(start), start, budget, **options)
    for start in starts
  ]


@pytest.fixture(scope="module")
def rough() -> oracles.RoughDistance:
  return oracles.RoughDistance(oracles.EIGHT_PUZZLE)


@pytest.fixture(scope="module")
def result_with_alpha_zero(rough, boards) -> search.SearchResult:
  solver = search.BestFirstSolver(rough.puzzle, rough, BUDGET, alpha=0.0, num_lanes=4)
  return solver.solve(boards)


def test_alpha_zero_is_best_first_search(rough, boards, result_with_alpha_zero):
  plain = _plain_results(rough, boards, BUDGET)
  oracles.assert_equal_to_reference(result_with_alpha_zero, plain)
  oracles.assert_plans_solve(rough.puzzle, boards, result_with_alpha_zero)
  assert 5 < result_with_alpha_zero.solved.numpy().sum() < PROBLEMS - 5


@pytest.mark.parametrize("options", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_the_search_is_that_of_a_priority_queue(options, rough, boards):
  result = search.BestFirstSolver(rough.puzzle, rough, BUDGET, num_lanes=4, **options).solve(boards)
  plain_options = {name: value for name, value in options.items() if name != "jit_compile"}
  oracles.assert_equal_to_reference(result, _plain_results(rough, boards, BUDGET, **plain_options))
  oracles.assert_plans_solve(rough.puzzle, boards, result)
  assert result.nodes.numpy().max() == BUDGET


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_a_small_budget_is_honoured_exactly(budget, rough, boards):
  options = {"expand_batch": 9}  # More at once than the budget allows.
  solver = search.BestFirstSolver(
    rough.puzzle, rough, budget, num_lanes=8, jit_compile=False, **options
  )
  result = solver.solve(boards)
  oracles.assert_equal_to_reference(result, _plain_results(rough, boards, budget, **options))
  assert result.nodes.numpy().max() == budget
  assert result.plan(5) == []


def test_one_search_gives_the_results_of_all_smaller_budgets(rough, boards, result_with_alpha_zero):
  solver = search.BestFirstSolver(rough.puzzle, rough, 500, num_lanes=32, jit_compile=False)
  small, large = result_with_alpha_zero, solver.solve(boards)
  np.testing.assert_array_equal(small.nodes, np.minimum(large.nodes, BUDGET))
  solved_by_then = large.solved.numpy() & (large.nodes.numpy() <= BUDGET)
  np.testing.assert_array_equal(small.solved, solved_by_then)
  assert solved_by_then.sum() < large.solved.numpy().sum()


def test_lights_out_with_its_ten_best_children():
  rough = oracles.RoughDistance(LightsOut(4, 4))
  starts = rough.puzzle.instances(1, tf.range(16, dtype=tf.int64)).numpy()
  result = search.BestFirstSolver(rough.puzzle, rough, 300, top_k=10, num_lanes=4).solve(starts)
  oracles.assert_equal_to_reference(result, _plain_results(rough, starts, 300, top_k=10))
  assert (result.nodes.numpy() <= 1 + 10 * result.expanded.numpy()).all()


def test_one_way_jumps_and_dead_ends():
  """Exact distances on boards where a wrong jump cannot be made good; each has its own context."""
  puzzle = DigitJumper(7, 6)
  starts = puzzle.instances(3, tf.range(16, dtype=tf.int64)).numpy()
  starts[4] = 5  # All digits are 6, and from the second row ...
  starts[4, 7] += 6  # ... and column all jumps of 6 lead off the board.
  heuristic = oracles.jumper_heuristic(puzzle)
  result = search.BestFirstSolver(puzzle, heuristic, 43, num_lanes=4).solve(starts)
  np.testing.assert_array_equal(
    np.where(result.solved, result.lengths, -1), puzzle.optimal_lengths(tf.constant(starts))
  )
  assert (result.nodes[4], result.expanded[4], result.plan(4)) == (1, 1, None)
  oracles.assert_plans_solve(puzzle, starts, result)
