"""t-SNE: neighbours stay neighbours, and the seed decides."""

import numpy as np

from crtr_tf.data import TrajectoryBatch
from crtr_tf.evaluation import tsne
from tests.evaluation.toy_trajectories import padded


def separated(lengths: list[int]) -> TrajectoryBatch:
  """Trajectories far from each other in ten dimensions."""
  rng = np.random.default_rng(0)
  return padded([20 * i + rng.normal(size=(length, 10)) for i, length in enumerate(lengths)])


def test_neighbours_in_the_plane_are_of_the_same_trajectory():
  found = tsne.tsne(lambda x: x, separated([20, 30, 25]), perplexity=8)
  assert found.points.shape == (75, 2) and np.isfinite(found.points).all()
  distances = np.linalg.norm(found.points[:, None] - found.points[None], axis=-1)
  np.fill_diagonal(distances, np.inf)
  np.testing.assert_array_equal(found.owners[distances.argmin(axis=1)], found.owners)


def test_the_result_is_a_function_of_the_seed():
  trajectories = separated([10, 15])
  points = [tsne.tsne(lambda x: x, trajectories, seed=seed).points for seed in (0, 0)]
  np.testing.assert_array_equal(points[0], points[1])


def test_by_default_a_trajectory_is_wider_than_with_more_neighbours_than_it_has():
  trajectories = separated([20] * 6)

  def relative_width(perplexity: float | None) -> float:
    found = tsne.tsne(lambda x: x, trajectories, perplexity)
    clusters = [found.points[found.owners == trajectory] for trajectory in range(6)]
    return np.mean([one.std(axis=0) for one in clusters]) / found.points.std()

  assert relative_width(None) == relative_width(20 / 3) > relative_width(30)


def test_a_handful_of_states_is_enough():
  found = tsne.tsne(lambda x: x, separated([2, 3]))
  assert found.points.shape == (5, 2) and found.owners.tolist() == [0, 0, 1, 1, 1]
