"""Finding one's own future: heuristics whose accuracy is known, and brute force."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy.spatial import distance as scipy_distance

from crtr_tf import data, models, puzzles, search
from crtr_tf.evaluation import accuracy
from tests.evaluation.toy_trajectories import Clocks


def context_distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  return tf.abs(states[:, 0] - goals[:, 0])


@pytest.mark.parametrize("repetition_factor", [1, 2, 4])
def test_context_alone_finds_the_trajectory_but_not_the_time(repetition_factor: int):
  found = accuracy.pair_accuracy(context_distance, Clocks(), repetition_factor, batch_size=16)
  share = 1 / repetition_factor
  assert found == (share, share, 64)


def test_a_blind_heuristic_is_as_good_as_chance():
  found = accuracy.pair_accuracy(lambda s, g: 0 * s[:, 0], Clocks(), 2, batch_size=16)
  np.testing.assert_allclose(found[:2], 1 / 16)


def test_accuracies_equal_a_loop_over_the_pairs_in_both_directions():
  def lopsided(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return 30 * context_distance(states, goals) + tf.abs(goals[:, 1] - 1.5 * states[:, 1] - 0.01)

  found = accuracy.pair_accuracy(lopsided, Clocks(), 4, batch_size=16, num_batches=3, seed=5)
  hits = np.zeros(2)
  for batch in data.contrastive_batches(Clocks(), 16, 4, discount=0.9, seed=5).take(3):
    states, goals = batch["states"].numpy().astype(float), batch["goals"].numpy().astype(float)
    table = np.array(
      [[30 * abs(s[0] - g[0]) + abs(g[1] - 1.5 * s[1] - 0.01) for g in goals] for s in states]
    )
    hits += [share_by_loop(table), share_by_loop(table.T)]
  np.testing.assert_allclose(found[:2], hits / 3)
  assert found.state_to_goal != found.goal_to_state


def share_by_loop(table: np.ndarray) -> float:
  shares = []
  for number, row in enumerate(table):
    nearest = [column for column, value in enumerate(row) if np.isclose(value, min(row))]
    shares.append(1 / len(nearest) if number in nearest else 0)
  return float(np.mean(shares))


def test_reports_both_factors():
  found = accuracy.pair_accuracies(context_distance, Clocks(), batch_size=8, num_batches=1)
  assert found == {1: (1, 1, 8), 2: (0.5, 0.5, 8)}


def contrastive_model(size: int, metric: str) -> models.ContrastiveModel:
  keras.utils.set_random_seed(0)
  model = models.ContrastiveModel(models.ResidualDenseEncoder(2, 16, 2, 8), metric)
  model.build((None, size))
  return model


@pytest.mark.parametrize("metric", ["dot", "l2"])
def test_agrees_with_the_accuracy_that_training_reports(metric: str):
  puzzle = puzzles.LightsOut(5, 5, trajectory_moves=40)
  source = data.simulated_trajectories(puzzle, split="test")
  model = contrastive_model(25, metric)
  options = {"repetition_factor": 2, "batch_size": 16, "seed": 3}
  found = accuracy.pair_accuracy(model, source, num_batches=1, **options)
  batch = next(iter(data.contrastive_batches(source, discount=0.9, **options)))
  _, statistics = model.batch_loss(batch, training=False)
  # What occurs twice ties: half a hit here, a miss in training.
  for role in ("states", "goals"):
    assert len(np.unique(batch[role].numpy(), axis=0)) == 16
  np.testing.assert_allclose(found.state_to_goal, statistics["accuracy_backward"].mean)
  np.testing.assert_allclose(found.goal_to_state, statistics["accuracy_forward"].mean)


@pytest.mark.parametrize("chunk", [5, 1000])
def test_distances_of_embeddings_and_of_states_are_the_same(chunk: int):
  model = contrastive_model(9, "dot")
  rng = np.random.default_rng(0)
  states = tf.constant(rng.integers(0, 2, (7, 9), np.uint8))
  goals = tf.constant(rng.integers(0, 2, (4, 9), np.uint8))
  expected = np.stack([model.distance(states, tf.repeat(goal[None], 7, 0)) for goal in goals], 1)
  for heuristic in (model, model.distance, search.as_heuristic(model)):
    found = accuracy.distance_matrix(heuristic, states, goals, chunk)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_states_that_can_be_embedded_are_embedded_once():
  calls = []

  class Counted:
    def embed(self, states: tf.Tensor) -> tf.Tensor:
      calls.append(len(states))
      return states

    def embedding_distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
      return context_distance(states, goals)

  accuracy.distance_matrix(Counted(), tf.zeros([6, 2]), tf.zeros([5, 2]), chunk=4)
  assert calls == [6, 5]


def test_hamming_distance_equals_scipy():
  rng = np.random.default_rng(0)
  states, goals = rng.integers(0, 3, (2, 20, 54), np.uint8)
  found = accuracy.hamming_distance(tf.constant(states), tf.constant(goals)).numpy()
  expected = [54 * scipy_distance.hamming(s, g) for s, g in zip(states, goals, strict=True)]
  np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_hamming_distance_knows_the_context_of_boards_that_change_slowly():
  # A press changes at most five of 49 lights: what the paper observes of the stickers of cubes.
  source = data.simulated_trajectories(puzzles.LightsOut(), split="test")
  found = accuracy.pair_accuracies(accuracy.hamming_distance, source, batch_size=64, num_batches=2)
  assert found[1].state_to_goal > found[2].state_to_goal > 10 / 64
