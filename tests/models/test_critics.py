"""Critics against their definitions, against each other, and at the point where roots are steep."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.models import critics

DEFINITIONS = {
  "dot": lambda x, y: np.dot(x, y),
  "l2": lambda x, y: -np.sqrt(np.sum((x - y) ** 2)),
  "l2_squared": lambda x, y: -np.sum((x - y) ** 2),
  "l1": lambda x, y: -np.sum(np.abs(x - y)),
}


def points(count: int, seed: int, dim: int = 5) -> np.ndarray:
  return np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)


def test_every_metric_has_a_definition_here():
  assert DEFINITIONS.keys() == critics.CRITICS.keys()


@pytest.mark.parametrize("metric", DEFINITIONS)
def test_pairwise_similarity_is_the_definition_for_every_pair(metric: str):
  x, y = points(4, seed=0), points(7, seed=1)
  expected = [[DEFINITIONS[metric](a, b) for b in y] for a in x]
  np.testing.assert_allclose(critics.pairwise_similarity(metric, x, y), expected, atol=1e-5)


@pytest.mark.parametrize("metric", DEFINITIONS)
def test_rowwise_distance_is_minus_the_diagonal(metric: str):
  x, y = points(6, seed=0), points(6, seed=1)
  diagonal = np.diag(critics.pairwise_similarity(metric, x, y))
  np.testing.assert_allclose(critics.rowwise_distance(metric, x, y), -diagonal, atol=1e-5)


@pytest.mark.parametrize("metric", ["l2", "l2_squared", "l1"])
def test_identical_points_have_distance_zero_and_a_finite_gradient(metric: str):
  x = tf.constant(points(5, seed=0))
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    similarities = critics.pairwise_similarity(metric, x, tf.identity(x))
    distances = critics.rowwise_distance(metric, x, tf.identity(x))
  np.testing.assert_allclose(distances, np.zeros(5), atol=1e-5)
  for value in (similarities, distances):
    assert np.all(np.isfinite(tape.gradient(value, x)))


def test_the_gradient_of_l2_is_a_unit_vector_away_from_zero():
  x, y = tf.constant(points(3, seed=0)), tf.constant(points(1, seed=1))
  with tf.GradientTape() as tape:
    tape.watch(x)
    similarities = critics.pairwise_similarity("l2", x, y)
  gradients = tape.gradient(similarities, x)
  np.testing.assert_allclose(np.linalg.norm(gradients, axis=1), np.ones(3), rtol=1e-4)


@pytest.mark.parametrize("metric", ["dot", "l2", "l2_squared"])
def test_no_tensor_of_all_pairs_and_features_is_made(metric: str):
  spec = tf.TensorSpec([11, 5], tf.float32)
  compare = tf.function(lambda x, y: critics.pairwise_similarity(metric, x, y))
  graph = compare.get_concrete_function(spec, spec).graph
  largest = max(
    out.shape.num_elements() or 0 for op in graph.get_operations() for out in op.outputs
  )
  assert largest == 11 * 11


def test_unknown_metric_names_the_known_ones():
  with pytest.raises(ValueError, match=r"one of dot, l2, l2_squared, l1; got 'cosine'\."):
    critics.pairwise_similarity("cosine", points(1, 0), points(1, 0))
