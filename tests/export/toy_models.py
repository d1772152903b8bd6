"""Tiny models of all methods after a few steps of training; the tests of export share these."""

import functools
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from crtr_tf import data, export, models, puzzles, training

PUZZLE = puzzles.LightsOut(3, 3, trajectory_moves=6)
# Enough for some of the boards; of these networks little is to be expected.
SETTINGS = export.SolverSettings(budget=120)
_STEPS, _BATCH = 4, 32

_DENSE = functools.partial(training.dense_encoder, width=16, depth=2, representation_dim=8)
# Its BatchNorm has moving statistics, which are no longer the initial ones after training.
_CONV = functools.partial(training.conv_encoder, width=4, depth=2, representation_dim=8)

METHODS: dict[str, training.Method] = {
  "crtr": training.ContrastiveMethod(_DENSE, metric="l2"),
  "crl": training.ContrastiveMethod(_DENSE, repetition_factor=1),
  "random": training.RandomMethod(_DENSE),
  "crtr conv": training.ContrastiveMethod(_CONV),
  "supervised": training.SupervisedMethod(_CONV),
  "davi": training.ValueIterationMethod(_CONV),
}


def make_model(name: str) -> models.HeuristicModel:
  """A model of the named method, built and compiled, not trained."""
  keras.utils.set_random_seed(0)
  source = data.simulated_trajectories(PUZZLE)
  model = METHODS[name].make_model(training.StateSpec.of(source, PUZZLE), PUZZLE)
  model.build((None, PUZZLE.state_size))
  model.compile(keras.optimizers.SGD(0.05), run_eagerly=True)
  return model


def trained_model(name: str) -> models.HeuristicModel:
  """A model of the named method, trained if that is in its nature."""
  model, method = make_model(name), METHODS[name]
  if method.is_trained:
    batches = method.batches(data.simulated_trajectories(PUZZLE), _BATCH, seed=0, first_step=0)
    model.fit(batches, steps_per_epoch=_STEPS, verbose=0)
  return model


def boards(count: int = 7) -> np.ndarray:
  """[count, 9] uint8, one of them solved already."""
  states = PUZZLE.instances(0, tf.range(count, dtype=tf.int64)).numpy()
  states[1] = 0
  return states


def exact_distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  """The fewest presses: [N, 9], [N, 9] -> [N] float32."""
  del goals  # There is only one.
  places = tf.constant(2 ** np.arange(PUZZLE.state_size), tf.int32)
  return tf.gather(_fewest_presses(), tf.reduce_sum(tf.cast(states, tf.int32) * places, axis=1))


@functools.cache
def _fewest_presses() -> np.ndarray:
  """By the board as a binary number: [512] float32."""
  numbers = np.arange(2**PUZZLE.state_size)
  all_boards = (numbers[:, None] >> np.arange(PUZZLE.state_size) & 1).astype(np.uint8)
  return np.array([PUZZLE.optimal_presses(board).sum() for board in all_boards], np.float32)


class TableModel(models.HeuristicModel):
  """A model whose distance is some function of the exact one, for what depends on the values.

  Args:
    of_presses: [N] float32 fewest presses -> [N] float32 distances.
  """

  def __init__(self, of_presses: Callable[[tf.Tensor], tf.Tensor]):
    super().__init__(())
    self._of_presses = of_presses
    self.encoder = _DENSE(training.StateSpec.of(data.simulated_trajectories(PUZZLE), PUZZLE))
    self.encoder.build((None, PUZZLE.state_size))

  def batch_loss(self, batch, training):
    raise NotImplementedError  # It has nothing to learn.

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return self._of_presses(exact_distance(states, goals))
