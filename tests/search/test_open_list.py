"""The compiled open list against Python's heap queue."""

import heapq

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.search import open_list

LANES, NEW = 3, 5


@tf.function(jit_compile=True, reduce_retracing=True)
def _select(opened: open_list.OpenList, created: tf.Tensor, count: int):
  return *open_list.select(opened, created, count), open_list.any_open(opened)


_update = tf.function(open_list.update, jit_compile=True)


@pytest.mark.parametrize("count", [1, 4])
def test_gives_the_best_nodes_in_the_order_of_a_heap(count):
  """Scores are small whole numbers, so that ties decide most of the time."""
  rng = np.random.default_rng(count)
  num_nodes = 1 + 30 * NEW + 1
  opened = open_list.empty(LANES, num_nodes)
  opened = open_list.restart(opened, tf.ones([LANES], tf.bool), 0.0)
  created = np.ones(LANES, np.int32)
  heaps = [[(0.0, 0)] for _ in range(LANES)]
  for _ in range(30):
    nodes, are_open, any_open = _select(opened, created, count)
    assert any_open.numpy().tolist() == [bool(heap) for heap in heaps]
    for lane, heap in enumerate(heaps):
      expected = [heapq.heappop(heap)[1] for _ in range(min(count, len(heap)))]
      assert nodes.numpy()[lane][are_open.numpy()[lane]].tolist() == expected
    scores = rng.integers(0, 4, (LANES, NEW)).astype(np.float32)
    scores[rng.random((LANES, NEW)) < 0.3] = open_list.CLOSED
    is_new = rng.random((LANES, NEW)) < 0.6
    counted = np.cumsum(is_new, axis=1)
    added = np.where(is_new, created[:, None] + counted - 1, num_nodes - 1).astype(np.int32)
    created = created + counted[:, -1].astype(np.int32)
    for lane, heap in enumerate(heaps):
      for node, score in zip(added[lane][is_new[lane]], scores[lane][is_new[lane]], strict=True):
        if score < open_list.CLOSED:
          heapq.heappush(heap, (score, node))
    opened = _update(opened, nodes, added, scores, created)


def test_a_lane_that_starts_again_forgets_its_nodes():
  opened = open_list.empty(2, 100)
  opened = open_list.restart(opened, tf.constant([True, True]), 0.0)
  nodes = tf.constant([[1, 2], [1, 2]])
  scores = tf.constant([[-3.0, -1.0], [-3.0, -1.0]])
  opened = open_list.update(opened, tf.constant([[0], [0]]), nodes, scores, tf.constant([3, 3]))
  opened = open_list.restart(opened, tf.constant([True, False]), 0.0)
  chosen, are_open = open_list.select(opened, tf.constant([1, 3]), 2)
  assert chosen.numpy()[are_open.numpy()].tolist() == [0, 1, 2]
  assert are_open.numpy().tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("num_nodes", [1, 2, 100, 6001, 60_001, 1_000_001])
def test_looks_at_few_nodes_however_many_there_are(num_nodes):
  size = open_list.group_size(num_nodes)
  groups = open_list.padded_nodes(num_nodes) // size
  assert num_nodes <= size * groups < num_nodes + size
  assert size + groups <= max(9, 3 * num_nodes**0.5)
