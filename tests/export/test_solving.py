"""What distances mean in steps, and searches that rely on it."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import data, export, search
from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation import calibration
from crtr_tf.export import solving
from crtr_tf.puzzles.digit_jumper import UNREACHABLE, DigitJumper
from tests.export import toy_models


def clock(lengths: list[int]) -> TrajectoryBatch:
  """Trajectories whose states count the steps that are left."""
  longest = max(lengths)
  states = np.zeros((len(lengths), longest, 1), np.uint8)
  for row, length in zip(states, lengths, strict=True):
    row[:length, 0] = np.arange(length)[::-1]
  return TrajectoryBatch(
    tf.constant(states), tf.constant(lengths), tf.range(len(lengths), dtype=tf.int64)
  )


def test_interpolation_is_that_of_numpy_and_goes_on_outside():
  xs, ys = [-3.0, -1.0, 0.5, 4.0], [1.0, 2.0, 2.0, 9.0]
  interpolate = tf.function(solving.interpolation(xs, ys), jit_compile=True)
  inside = np.concatenate([np.linspace(-3, 4, 101), xs]).astype(np.float32)
  np.testing.assert_allclose(interpolate(inside), np.interp(inside, xs, ys), rtol=1e-5, atol=1e-5)
  slope = 8 / 7
  outside = np.float32([-1e30, -3.5, 4.5, 11.0])
  expected = [0.0, 1 - 0.5 * slope, 9 + 0.5 * slope, 9 + 7 * slope]
  np.testing.assert_allclose(interpolate(outside), expected, rtol=1e-5)


@pytest.mark.parametrize(
  "of_steps",
  [lambda n: 3 * n - 50, lambda n: tf.sqrt(n), lambda n: tf.exp(n / 10) - 1],
  ids=["linear", "root", "exponential"],
)
def test_calibration_finds_the_steps_behind_a_monotone_distance(of_steps):
  def distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return of_steps(tf.cast(states[:, 0], tf.float32) - tf.cast(goals[:, 0], tf.float32))

  fitted = calibration.fit(distance, clock([100, 40, 2, 77]))
  assert np.all(np.diff(fitted["distances"]) > 0) and np.all(np.diff(fitted["steps"]) >= 0)
  assert len(fitted["distances"]) <= 66
  steps = np.arange(100, dtype=np.float32)
  found = solving.interpolation(fitted["distances"], fitted["steps"])(of_steps(steps))
  # Not all points are kept; between those that are the map is a straight line.
  np.testing.assert_allclose(found, steps, atol=0.5)
  np.testing.assert_allclose(found[0], 0, atol=1e-3)


def test_a_distance_that_says_nothing_means_the_mean_number_of_steps():
  fitted = calibration.fit(lambda states, _: tf.zeros(tf.shape(states)[0]), clock([5, 5]))
  found = solving.interpolation(fitted["distances"], fitted["steps"])(tf.constant([-9.0, 0.0, 9.0]))
  np.testing.assert_allclose(found, 2.0)


def test_noise_is_averaged():
  rng = np.random.default_rng(0)

  def distance(states: tf.Tensor, goals: tf.Tensor) -> np.ndarray:
    del goals
    return (np.asarray(states)[:, 0] + rng.normal(0, 3, len(states))).astype(np.float32)

  fitted = calibration.fit(distance, clock([60] * 200))
  found = solving.interpolation(fitted["distances"], fitted["steps"])(np.float32([15, 30, 45]))
  np.testing.assert_allclose(found, [15, 30, 45], atol=1)


def test_order_is_kept_where_the_regression_is_flat():
  def distance(states: tf.Tensor, goals: tf.Tensor) -> np.ndarray:
    """Tells the time in tens, and the rest of it backwards."""
    del goals
    time = np.asarray(states)[:, 0].astype(np.float32)
    return time // 10 * 10 - 0.5 * (time % 10)

  fitted = calibration.fit(distance, clock([60] * 3))
  values = np.linspace(-10, 80, 50, dtype=np.float32)
  found = solving.interpolation(fitted["distances"], fitted["steps"])(values).numpy()
  assert np.all(np.diff(found[found > 0]) > 0)


def test_auto_alpha_with_exact_distances_gives_shortest_plans(tmp_path: pathlib.Path):
  """Distances in other units than steps, through saving and loading."""
  model = toy_models.TableModel(lambda presses: 0.01 * presses**2 - 7.0)
  source = data.simulated_trajectories(toy_models.PUZZLE, "test")
  # The fewest presses and not the steps of a trajectory, which takes detours.
  presses = np.arange(10, dtype=np.float32)
  steps = {"distances": (0.01 * presses**2 - 7.0).tolist(), "steps": presses.tolist()}
  assert set(calibration.fit(model.distance, data.read_trajectories(source, 20, 0))) == set(steps)
  settings = export.SolverSettings("astar", budget=512, alpha="auto")
  export.save(
    model, toy_models.PUZZLE, tmp_path / "1", export.Training("exact"), settings, steps,
    jit_compile=False,
  )  # fmt: skip
  states = toy_models.PUZZLE.instances(3, tf.range(30, dtype=tf.int64))
  fewest = toy_models.exact_distance(states, states)
  result = export.load(tmp_path).solver(jit_compile=False).solve(states)
  np.testing.assert_array_equal(result.lengths, fewest)
  assert np.all(search.verify(toy_models.PUZZLE, states, result))
  # Ignoring the distance, it looks at everything nearer than the goal.
  blind = export.load(tmp_path).solver(jit_compile=False, weight=0.0).solve(states)
  np.testing.assert_array_equal(blind.lengths, fewest)
  assert np.sum(blind.nodes) > 2 * np.sum(result.nodes)


def test_auto_alpha_needs_a_calibration():
  settings = export.SolverSettings("astar", alpha="auto")
  with pytest.raises(ValueError, match=r"this one has no calibration. Give a number for alpha"):
    solving.make_solver(toy_models.PUZZLE, toy_models.exact_distance, settings)


def test_no_way_stays_no_way_in_steps():
  puzzle = DigitJumper(5, 5)
  states = puzzle.instances(0, tf.range(4, dtype=tf.int64))

  def distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    steps = tf.gather(puzzle.exact_distances(goals), puzzle.players(states), batch_dims=1)
    return tf.where(steps == UNREACHABLE, np.inf, tf.cast(steps, tf.float32))

  in_steps = solving.calibrated(distance, {"distances": [0.0, 30.0], "steps": [0.0, 60.0]}, 0.5)
  everywhere, _ = puzzle.children(states)
  goals = tf.repeat(puzzle.goal(states), puzzle.num_actions, axis=0)
  flat = tf.reshape(everywhere, [-1, puzzle.state_size])
  np.testing.assert_allclose(in_steps.distance(flat, goals), distance(flat, goals))
  nowhere = search.as_heuristic(lambda states, _: tf.fill(tf.shape(states)[:1], np.inf))
  lost = solving.calibrated(nowhere, {"distances": [0.0, 1.0], "steps": [0.0, 5.0]})
  assert np.all(np.isinf(lost.distance(flat, goals)))
