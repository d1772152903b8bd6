"""Streams of problems, memory, arguments, and solvers as part of a saved model."""

import logging

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import search
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.puzzles.rubiks_cube import RubiksCube
from crtr_tf.search import memory, reference
from tests.search import oracles


def _zero(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  del goals
  return tf.zeros(tf.shape(states)[:1])


class Encoder(tf.Module):
  """A dense encoder with weights that are variables."""

  def __init__(self, puzzle: NPuzzle):
    super().__init__()
    rng = np.random.default_rng(0)
    self.num_values = puzzle.num_values
    inputs = puzzle.state_size * puzzle.num_values
    self.first = tf.Variable(rng.normal(0, inputs**-0.5, (inputs, 64)).astype(np.float32))
    self.second = tf.Variable(rng.normal(0, 0.1, (64, 16)).astype(np.float32))

  def embed(self, states: tf.Tensor) -> tf.Tensor:
    one_hot = tf.reshape(tf.one_hot(states, self.num_values), [-1, self.first.shape[0]])
    return tf.matmul(tf.nn.relu(tf.matmul(one_hot, self.first)), self.second)

  def embedding_distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return tf.norm(states - goals, axis=1)


# Streams.


def test_a_long_stream_comes_back_in_order_and_traces_once():
  """Problems of very different length, many more than are held at once."""
  rough = oracles.RoughDistance(oracles.EIGHT_PUZZLE)
  traces = []

  def distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    traces.append(None)
    return rough.distance(states, goals)

  walks = NPuzzle(3, trajectory_moves=30).trajectories(0, tf.range(75, dtype=tf.int64)).states
  starts = walks.numpy()[np.arange(75), np.arange(75) % 31]
  solver = search.BestFirstSolver(rough.puzzle, distance, 80, num_lanes=3)
  result = solver.solve(starts)
  assert len(traces) == 1
  plain = [reference.best_first(rough.puzzle, rough.plain(one), one, 80) for one in starts]
  oracles.assert_equal_to_reference(result, plain)
  oracles.assert_plans_solve(rough.puzzle, starts, result)
  assert result.nodes.numpy().min() == 1 and result.nodes.numpy().max() == 80


def test_a_saved_solver_gives_the_same_results(tmp_path):
  puzzle = NPuzzle(4, trajectory_moves=8)
  starts = puzzle.trajectories(0, tf.range(11, dtype=tf.int64)).states.numpy()[:, 0]
  solver = search.BestFirstSolver(puzzle, Encoder(puzzle), 200, num_lanes=4)
  result = solver.solve(starts)
  assert result.solved.numpy().sum() > 3
  oracles.assert_plans_solve(puzzle, starts, result)
  # With a real encoder, too, a problem's result does not depend on the others.
  order = np.random.default_rng(0).permutation(11)
  shuffled = solver.solve(starts[order])
  oracles.assert_same(search.SearchResult(*(tf.gather(part, order) for part in result)), shuffled)

  signature = solver.solve_in_graph.get_concrete_function()
  tf.saved_model.save(solver, str(tmp_path), signatures={"solve": signature})
  loaded = tf.saved_model.load(str(tmp_path)).signatures["solve"](tf.constant(starts))
  assert set(loaded) == set(search.SearchResult._fields)
  oracles.assert_same(search.SearchResult(**loaded), result)


def test_no_problems_and_one_problem():
  solver = search.GreedySolver(
    oracles.EIGHT_PUZZLE, oracles.eight_puzzle_distance, 40, jit_compile=False
  )
  board = np.array([[1, 2, 3, 4, 5, 6, 0, 7, 8]], np.uint8)
  result = solver.solve(board)
  assert result.plans.shape == (1, 2) and result.plan(0) == [3, 3]
  for nothing in (solver.solve(board[:0]), solver.solve_in_graph(board[:0])):
    assert [part.shape[0] for part in nothing] == [0] * 5


# Heuristics.


def test_goals_are_embedded_once_and_not_with_the_states():
  encoder = Encoder(NPuzzle(3))
  heuristic = search.as_heuristic(encoder)
  states = oracles.EIGHT_PUZZLE.instances(0, tf.range(6, dtype=tf.int64))
  goals = oracles.EIGHT_PUZZLE.goal(states)
  contexts = heuristic.prepare(goals)
  np.testing.assert_array_equal(contexts, encoder.embed(goals))
  np.testing.assert_array_equal(
    heuristic.distance(states, contexts),
    encoder.embedding_distance(encoder.embed(states), encoder.embed(goals)),
  )


def test_functions_and_objects_with_a_distance_are_heuristics():
  rough = oracles.RoughDistance(oracles.EIGHT_PUZZLE)
  states = oracles.EIGHT_PUZZLE.instances(0, tf.range(6, dtype=tf.int64))
  goals = oracles.EIGHT_PUZZLE.goal(states)
  for source in (rough, rough.distance, search.as_heuristic(rough)):
    heuristic = search.as_heuristic(source)
    found = heuristic.distance(states, heuristic.prepare(goals))
    np.testing.assert_array_equal(found, rough.distance(states, goals))
  with pytest.raises(TypeError, match=r"heuristic must be .*; got str\."):
    search.as_heuristic("manhattan")


# Arguments.


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"budget": 0}, "budget must be an integer of at least 1; got 0"),
    ({"budget": -5}, "budget must be an integer of at least 1; got -5"),
    ({"budget": 1.5}, "budget must be an integer of at least 1; got 1.5"),
    ({"top_k": 0}, "top_k must be an integer of at least 1; got 0"),
    ({"expand_batch": 0}, "expand_batch must be an integer of at least 1; got 0"),
    ({"num_lanes": 0}, "num_lanes must be an integer of at least 1; got 0"),
    ({"rows": 0}, "rows must be an integer of at least 1; got 0"),
    ({"alpha": -1.0}, "alpha must be a finite number of at least 0; got -1.0"),
    ({"alpha": float("nan")}, "alpha must be a finite number of at least 0; got nan"),
    ({"budget": 1 << 29}, r"nodes times actions must be below 2\^31 .* got 536870912 and 4"),
  ],
)
def test_best_first_refuses(options, message):
  with pytest.raises(ValueError, match=message):
    search.BestFirstSolver(oracles.EIGHT_PUZZLE, _zero, **{"budget": 10, **options})


@pytest.mark.parametrize(("width", "max_depth"), [(0, 5), (-1, 5), (5, 0)])
def test_beam_refuses(width, max_depth):
  name, value = ("width", width) if width < 1 else ("max_depth", max_depth)
  with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1; got {value}"):
    search.BeamSolver(oracles.EIGHT_PUZZLE, _zero, width, max_depth)


def test_greedy_refuses():
  with pytest.raises(ValueError, match="max_steps must be an integer of at least 1; got 0"):
    search.GreedySolver(oracles.EIGHT_PUZZLE, _zero, 0)


@pytest.mark.parametrize(
  ("states", "got"),
  [
    (np.zeros((2, 16), np.uint8), r"\[2, 16\] uint8"),
    (np.zeros(9, np.uint8), r"\[9\] uint8"),
    (np.zeros((2, 9), np.int64), r"\[2, 9\] int64"),
  ],
)
def test_states_of_another_kind_are_refused(states, got):
  solver = search.GreedySolver(oracles.EIGHT_PUZZLE, _zero, 5)
  with pytest.raises(ValueError, match=r"states must be \[P, 9\] uint8 for n_puzzle; got " + got):
    solver.solve(states)


# Memory.


def test_memory_grows_with_the_budget_and_little_else():
  per_node = [search.memory_per_lane(RubiksCube(), budget) / budget for budget in (8192, 65536)]
  # 54 cells, three numbers of four bytes, two slots of eight, four plans of waiting problems.
  assert all(98 <= one <= 110 for one in per_node)
  solver = search.BestFirstSolver(RubiksCube(), _zero, 8192, num_lanes=1)
  assert solver.memory_per_lane == search.memory_per_lane(RubiksCube(), 8192)


def test_too_many_lanes_are_reduced_with_the_numbers(caplog):
  per_lane = search.memory_per_lane(RubiksCube(), 6000)
  with caplog.at_level(logging.WARNING):
    solver = search.BestFirstSolver(
      RubiksCube(), _zero, 6000, num_lanes=100, memory_limit=7 * per_lane
    )
  assert solver.num_lanes == 7
  assert f"({memory.readable(per_lane)} each)" in caplog.text
  assert "100 problems at once" in caplog.text and "searching 7 at once" in caplog.text


def test_what_does_not_fit_is_refused_before_anything_is_allocated():
  message = r"BestFirstSolver for rubiks_cube needs .* GB for a single problem; .* 1\.0 GB"
  with pytest.raises(ValueError, match=message):
    search.BestFirstSolver(RubiksCube(), _zero, 150_000_000, memory_limit=1 << 30)
  with pytest.raises(ValueError, match="BeamSolver for rubiks_cube needs"):
    search.BeamSolver(RubiksCube(), _zero, 1 << 20, 50, memory_limit=1 << 20)
