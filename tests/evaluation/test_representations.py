"""States of many trajectories in one array, and their principal components."""

import numpy as np
import tensorflow as tf
from sklearn import decomposition

from crtr_tf.evaluation import representations
from tests.evaluation.toy_trajectories import counting


def test_flattening_keeps_every_state_in_order_and_no_padding():
  flat = representations.flatten(counting([3, 2, 4]))
  assert flat.points[:, 0].tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
  assert flat.owners.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
  assert flat.steps_left.tolist() == [2, 1, 0, 1, 0, 3, 2, 1, 0]
  np.testing.assert_allclose(flat.progress, [0, 0.5, 1, 0, 1, 0, 1 / 3, 2 / 3, 1])


def test_representations_belong_to_their_states():
  trajectories = counting([3, 2, 4])
  found = representations.represent(lambda x: 2 * x + 1, trajectories, chunk=4)
  flat = representations.flatten(trajectories)
  np.testing.assert_array_equal(found.points, 2 * flat.points + 1)
  np.testing.assert_array_equal(found.owners, flat.owners)


def test_rows_are_mapped_in_chunks_of_one_shape():
  shapes = []

  def product(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    shapes.append((x.shape[0], y.shape[0]))
    return x * y

  x, y = np.arange(10.0), np.arange(10.0)[::-1]
  np.testing.assert_array_equal(representations.map_rows(product, [x, y], chunk=4), x * y)
  assert shapes == [(4, 4)] * 3
  shapes.clear()
  np.testing.assert_array_equal(representations.map_rows(product, [x, y]), x * y)
  assert shapes == [(10, 10)]  # no more work than there are rows


def test_principal_components_equal_those_of_scikit_learn():
  rng = np.random.default_rng(0)
  points = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6)) + 3
  others = rng.normal(size=(50, 6))
  reference = decomposition.PCA(3, svd_solver="full").fit(points)
  found = representations.PrincipalAxes.of(points, 3)
  # The sign of a component means nothing.
  signs = np.sign(np.sum(found.axes * reference.components_, axis=1))
  np.testing.assert_allclose(found.project(points) * signs, reference.transform(points))
  np.testing.assert_allclose(found.project(others) * signs, reference.transform(others))
