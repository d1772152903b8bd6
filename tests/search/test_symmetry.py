"""Distances averaged over symmetries: what is turned as a whole is as far from its goal."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import puzzles, search

PUZZLES = [
  puzzles.RubiksCube(trajectory_moves=5),
  puzzles.NPuzzle(3),
  puzzles.LightsOut(4, 4),
  puzzles.DigitJumper(5, 5),
  puzzles.Sokoban(8, 8, num_boxes=2),
]
NUM_STATES = 6
ALL = 1000  # more than any puzzle has


class RandomEmbedding:
  """A distance that knows nothing of symmetries."""

  def __init__(self, puzzle: puzzles.Puzzle):
    self._num_values = puzzle.num_values
    inputs = puzzle.state_size * puzzle.num_values
    self._matrix = tf.constant(np.random.default_rng(0).normal(size=(inputs, 3)), tf.float32)

  def embed(self, states: tf.Tensor) -> tf.Tensor:
    one_hot = tf.one_hot(states, self._num_values)
    return tf.matmul(tf.reshape(one_hot, [-1, self._matrix.shape[0]]), self._matrix)

  def embedding_distance(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.math.squared_difference(x, y), axis=-1)


def sample(puzzle: puzzles.Puzzle) -> tuple[tf.Tensor, tf.Tensor]:
  """States on the way, and the goals that they lead to."""
  states = puzzle.trajectories(0, tf.range(NUM_STATES, dtype=tf.int64)).states[:, 1]
  return states, puzzle.goal(states)


def distances(heuristic: search.Heuristic, states: tf.Tensor, goals: tf.Tensor) -> np.ndarray:
  return heuristic.distance(states, heuristic.prepare(goals)).numpy()


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_it_is_the_mean_over_the_views_and_the_same_for_every_view(puzzle: puzzles.Puzzle):
  states, goals = sample(puzzle)
  plain = search.as_heuristic(RandomEmbedding(puzzle))
  averaged = search.symmetry_averaged(RandomEmbedding(puzzle), puzzle, ALL)
  views, means = [], []
  for number in range(len(puzzle.symmetries().cells)):
    numbers = tf.fill([NUM_STATES], number)
    images = [puzzle.symmetric_images(x, numbers) for x in (states, goals)]
    views.append(distances(plain, *images))
    means.append(distances(averaged, *images))
  assert np.ptp(views, axis=0).max() > 0.1  # The views differ, so a mean means something.
  np.testing.assert_allclose(means[0], np.mean(views, axis=0), rtol=1e-4)
  np.testing.assert_allclose(means, np.tile(means[0], (len(means), 1)), rtol=1e-4)


def test_one_symmetry_is_the_distance_itself():
  puzzle = PUZZLES[0]
  states, goals = sample(puzzle)
  plain = search.as_heuristic(RandomEmbedding(puzzle))
  one = search.symmetry_averaged(RandomEmbedding(puzzle), puzzle, 1)
  np.testing.assert_array_equal(distances(one, states, goals), distances(plain, states, goals))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_searches_take_it(jit_compile: bool):
  puzzle = puzzles.LightsOut(3, 3)

  def differing(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.cast(states != goals, tf.float32), axis=1)

  averaged = search.symmetry_averaged(differing, puzzle, ALL)
  instances = puzzle.instances(1, tf.range(10, dtype=tf.int64))
  found, wanted = (
    search.BestFirstSolver(puzzle, one, 512, jit_compile=jit_compile).solve(instances)
    for one in (averaged, differing)
  )
  assert found.solved.numpy().all()
  # The number of lights is the same from all sides.
  np.testing.assert_array_equal(found.nodes, wanted.nodes)


def test_no_symmetry_at_all_is_refused():
  with pytest.raises(ValueError, match="symmetries must be at least 1; got 0"):
    search.symmetry_averaged(RandomEmbedding(PUZZLES[0]), PUZZLES[0], 0)
