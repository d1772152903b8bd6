"""Does a state find its own future among those of others?

Axes: B pairs of a batch, N and M states, S the shape of one state.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf import data, search
from crtr_tf.data.pipeline import TrajectorySource
from crtr_tf.evaluation.representations import map_rows


class PairAccuracy(NamedTuple):
  """Shares of the pairs of all batches; picking at random would give 1 / batch size."""

  state_to_goal: float  # the nearest goal of a state is its own
  goal_to_state: float  # the nearest state of a goal is its own
  num_pairs: int


def hamming_distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
  """In how many cells states and goals differ, a heuristic without learning: [N, S] x 2 -> [N]."""
  return tf.reduce_sum(tf.cast(states != goals, tf.float32), axis=-1)


def pair_accuracy(
  heuristic: Any,
  source: TrajectorySource,
  repetition_factor: int,
  batch_size: int = 256,
  num_batches: int = 4,
  discount: float = 0.9,
  seed: int = 0,
) -> PairAccuracy:
  """In batches of pairs (state, later state), how often the two are nearest to each other.

  With factor 1 all pairs are of different trajectories, and what they have in common tells them
  apart; with 2 or more, some share it, and only time does.

  Args:
    heuristic: anything that `search.as_heuristic` takes. States that can be embedded are, once
      each; a mere distance is evaluated on all B x B pairs.
    source: trajectories, which should not have been trained on.
    repetition_factor: pairs from one trajectory.
    batch_size: B; 2 with factor 1 asks for the choice between one's own goal and a stranger's.
    num_batches: how many batches are averaged.
    discount: of the distribution of offsets, see `data.contrastive_batches`.
    seed: of the pairs.
  """
  batches = data.contrastive_batches(source, batch_size, repetition_factor, discount, seed)
  distances = [
    distance_matrix(heuristic, batch["states"], batch["goals"])
    for batch in batches.take(num_batches)
  ]
  return PairAccuracy(
    float(np.mean([_share_of_nearest(one) for one in distances])),
    float(np.mean([_share_of_nearest(one.T) for one in distances])),
    num_batches * batch_size,
  )


def pair_accuracies(
  heuristic: Any,
  source: TrajectorySource,
  repetition_factors: Sequence[int] = (1, 2),
  **options: Any,
) -> dict[int, PairAccuracy]:
  """`pair_accuracy` with its options by repetition factor: does context tell, does time?"""
  return {
    factor: pair_accuracy(heuristic, source, factor, **options) for factor in repetition_factors
  }


def distance_matrix(
  heuristic: Any, states: tf.Tensor, goals: tf.Tensor, chunk: int = 1 << 14
) -> np.ndarray:
  """The distance of every state to every goal.

  Args:
    heuristic: see `pair_accuracy`.
    states: [N, *S].
    goals: [M, *S].
    chunk: how many pairs are compared at a time.

  Returns:
    [N, M] float.
  """
  if search.has_embeddings(heuristic):
    compare = heuristic.embedding_distance
    states, goals = heuristic.embed(states), heuristic.embed(goals)
  else:
    prepare, compare = search.as_heuristic(heuristic)
    goals = prepare(goals)
  num_states, num_goals = len(states), len(goals)
  # Pairs are given by their numbers: all of them at once would be too large.
  rows, columns = np.divmod(np.arange(num_states * num_goals), num_goals)
  flat = map_rows(
    lambda row, column: compare(tf.gather(states, row), tf.gather(goals, column)),
    [rows, columns],
    chunk,
  )
  return flat.reshape(num_states, num_goals)


def _share_of_nearest(distances: np.ndarray) -> float:
  """How often the diagonal is the least of its row of [B, B].

  One of n equal ones counts 1 / n, as if one of them were picked at random: equal distances are
  common where they are whole numbers, and where pairs share a goal.
  """
  least = distances.min(axis=1)
  is_least = distances == least[:, None]
  return float(np.mean(np.diag(is_least) / is_least.sum(axis=1)))
