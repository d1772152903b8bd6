"""Value iteration: its targets, when the target network changes, and where it converges."""

import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import models
from crtr_tf.puzzles import LightsOut, NPuzzle, Puzzle, exhaustive

LIGHTS = LightsOut(2, 2)


def make(
  puzzle: Puzzle = LIGHTS,
  threshold: float = 0.01,
  check_every: int = 10,
  rate: float = 3e-3,
  jit: bool | None = None,
) -> models.ValueIterationModel:
  """A small model with the same weights every time; eager, which is fastest for a few steps."""
  keras.utils.set_random_seed(0)
  encoder = models.ResidualDenseEncoder(puzzle.num_values, 32, 2)
  model = models.ValueIterationModel(encoder, puzzle, threshold, check_every)
  model.build((None, puzzle.state_size))
  optimizer = keras.optimizers.Adam(rate)
  model.compile(optimizer, run_eagerly=jit is None, jit_compile=jit or False)
  return model


def all_states() -> tuple[np.ndarray, np.ndarray]:
  return exhaustive.distances_from(LIGHTS, np.zeros((1, 4), np.uint8))


def train(model: models.ValueIterationModel, steps: int) -> dict[str, list[float]]:
  states, _ = all_states()
  data = tf.data.Dataset.from_tensors({"states": states}).repeat(steps)
  return model.fit(data, verbose=0).history


def target_updates(model: models.ValueIterationModel) -> int:
  (count,) = (weight for weight in model.weights if weight.name == "target_updates")
  return int(np.asarray(count))


def test_values_become_the_exact_distances_in_a_compiled_step():
  states, distances = all_states()
  model = make(jit=True)
  history = train(model, 400)
  assert set(history) == {
    "loss", "mean_value", "mean_target", "target_updates", "gradient_norm"
  }  # fmt: skip
  assert distances.max() == 4
  np.testing.assert_allclose(model.distance(states, states), distances, atol=0.1)


def test_targets_are_one_step_ahead_over_valid_moves():
  puzzle = NPuzzle(3)
  model = make(puzzle)
  states, distances = all_states_near(puzzle)
  # The target network gives zero at first: one move, or none.
  np.testing.assert_allclose(model.lookahead(states), np.minimum(distances, 1))
  model._replace_target()
  expected = [look_ahead_by_hand(model, puzzle, state) for state in states]
  np.testing.assert_allclose(model.lookahead(states), expected, rtol=1e-4)


def all_states_near(puzzle: NPuzzle) -> tuple[np.ndarray, np.ndarray]:
  solved = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 0]], np.uint8)
  near = puzzle.children(tf.constant(solved)).states.numpy()[0]
  far = puzzle.instances(0, tf.range(5, dtype=tf.int64)).numpy()
  states = np.concatenate([solved, near, far])
  return states, np.where(np.all(states == solved, axis=1), 0, 2)


def look_ahead_by_hand(
  model: models.ValueIterationModel, puzzle: NPuzzle, state: np.ndarray
) -> float:
  if puzzle.is_solved(state[None])[0]:
    return 0.0
  children, valid = puzzle.children(tf.constant(state[None]))
  costs = [
    1.0
    + (
      0.0
      if puzzle.is_solved(child[None])[0]
      else float(model.distance(child[None], child[None])[0])
    )
    for child in children.numpy()[0][valid.numpy()[0]]
  ]
  return min(costs)


@pytest.mark.parametrize(("margin", "updates"), [(1.001, 1), (0.999, 0)])
def test_the_target_network_is_replaced_exactly_under_the_threshold(margin: float, updates: int):
  # Without learning, the loss stays what it is at first.
  loss = train(make(threshold=1e-9, rate=0.0), 1)["loss"][0]
  model = make(threshold=margin * loss, check_every=4, rate=0.0)
  train(model, 3)
  assert target_updates(model) == 0  # not checked before four steps
  train(model, 1)
  assert target_updates(model) == updates
  states, _ = all_states()
  same = np.allclose(model.target(states), model.encoder(states))
  assert same == bool(updates)


def test_a_restored_model_goes_on_as_if_it_had_not_stopped(tmp_path: pathlib.Path):
  straight = make(threshold=10.0, check_every=5)
  train(straight, 8)
  stopped = make(threshold=10.0, check_every=5)
  train(stopped, 3)
  checkpoint = tf.train.Checkpoint(model=stopped, optimizer=stopped.optimizer)
  path = checkpoint.save(str(tmp_path / "checkpoint"))
  resumed = make(threshold=10.0, check_every=5)
  resumed.optimizer.build(resumed.trainable_variables)
  restored = tf.train.Checkpoint(model=resumed, optimizer=resumed.optimizer)
  restored.restore(path).assert_existing_objects_matched()
  train(resumed, 5)
  assert target_updates(resumed) == target_updates(straight) == 1
  for one, other in zip(resumed.get_weights(), straight.get_weights(), strict=True):
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_target_network_is_not_trained():
  model = make()
  assert len(model.trainable_variables) == len(model.encoder.trainable_variables)
  before = [np.asarray(weight) for weight in model.target.weights]
  train(model, 2)
  for one, other in zip(before, model.target.weights, strict=True):
    np.testing.assert_array_equal(one, other)


def test_impossible_options_are_refused():
  with pytest.raises(ValueError, match=r"update_threshold must be positive; got 0\.0\."):
    make(threshold=0.0)
  with pytest.raises(ValueError, match=r"check_every must be at least 1; got 0\."):
    make(check_every=0)
