"""Distances are those of the states asked for, and only those are computed."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import search
from crtr_tf.search import scoring

LANES, WIDTH, CELLS = 6, 7, 4


def _sum_plus_context(states: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
  return tf.reduce_sum(tf.cast(states, tf.float32), axis=1) + contexts


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("rows", [1, 4, 42, 100])
def test_each_state_gets_its_own_distance(share, rows):
  rng = np.random.default_rng(0)
  states = rng.integers(0, 9, (LANES, WIDTH, CELLS)).astype(np.uint8)
  contexts = 1000.0 * np.arange(LANES, dtype=np.float32)
  wanted = rng.random((LANES, WIDTH)) < share
  heuristic = search.Heuristic(tf.identity, _sum_plus_context)
  found = scoring.distances(heuristic, tf.constant(states), contexts, tf.constant(wanted), rows)
  expected = np.where(wanted, states.sum(axis=2) + contexts[:, None], np.inf)
  np.testing.assert_array_equal(found.numpy(), expected)


def test_calls_the_heuristic_as_often_as_the_wanted_states_need():
  calls = []

  def count(states: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
    del contexts
    tf.py_function(lambda: calls.append(None), [], [])
    return tf.zeros(tf.shape(states)[0])

  wanted = np.zeros((LANES, WIDTH), bool)
  wanted.flat[[3, 11, 12, 30, 41]] = True
  heuristic = search.Heuristic(tf.identity, count)
  states = tf.zeros([LANES, WIDTH, CELLS], tf.uint8)
  scoring.distances(heuristic, states, tf.zeros([LANES]), tf.constant(wanted), rows=4)
  assert len(calls) == 2


def test_no_number_counts_as_no_way():
  heuristic = search.Heuristic(tf.identity, lambda states, _: states[:, 0] / states[:, 0])
  states = tf.constant([[[0.0], [1.0]]])
  found = scoring.distances(heuristic, states, tf.zeros([1]), tf.ones([1, 2], tf.bool))
  assert found.numpy().tolist() == [[np.inf, 1.0]]
