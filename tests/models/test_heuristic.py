"""Every method answers to one interface."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import models
from crtr_tf.puzzles import LightsOut

PUZZLE = LightsOut(2, 3)


def encoder() -> models.Encoder:
  return models.ResidualDenseEncoder(PUZZLE.num_values, 16, 2)


METHODS = {
  "contrastive": lambda: models.ContrastiveModel(encoder()),
  "supervised": lambda: models.SupervisedModel(encoder(), num_bins=10),
  "value iteration": lambda: models.ValueIterationModel(encoder(), PUZZLE),
}


@pytest.mark.parametrize("method", METHODS)
def test_distances_of_all_methods_have_one_shape_and_dtype(method: str):
  model = METHODS[method]()
  states = PUZZLE.instances(0, tf.range(5, dtype=tf.int64))
  distances = model.distance(states, PUZZLE.goal(states))
  assert isinstance(model, models.Heuristic)
  assert distances.shape == (5,) and distances.dtype == tf.float32
  assert np.all(np.isfinite(distances))


@pytest.mark.parametrize("method", METHODS)
def test_a_distance_function_of_free_batch_size_is_traced_once(method: str):
  model = METHODS[method]()
  model.build((None, PUZZLE.state_size))
  traces = []

  @tf.function(input_signature=[tf.TensorSpec([None, PUZZLE.state_size], tf.uint8)])
  def distance(states: tf.Tensor) -> tf.Tensor:
    traces.append(states)
    return model.distance(states, PUZZLE.goal(states))

  for count in (1, 7, 30):
    states = PUZZLE.instances(0, tf.range(count, dtype=tf.int64))
    expected = model.distance(states, PUZZLE.goal(states))
    np.testing.assert_allclose(distance(states), expected, rtol=1e-4, atol=1e-5)
  assert len(traces) == 1


def test_only_representations_can_be_embedded():
  assert isinstance(METHODS["contrastive"](), models.EmbeddingHeuristic)
  assert not isinstance(METHODS["supervised"](), models.EmbeddingHeuristic)
