"""The open nodes of each lane and the best of them, without looking at all of them.

Axes: L lanes, G groups, W nodes of a group, E nodes to expand, K new nodes. Node n is number n % W
of group n // W. The best score of every group is known, so the best node is found by looking at G
groups and then at W nodes; with both near the square root of the number of nodes, that is next to
nothing beside the cost of expanding a node.
"""

from typing import NamedTuple

import tensorflow as tf

CLOSED = float("inf")  # the score of a node that is not open
_SCORE_BYTES = 4
_LEAST_GROUP_BITS = 3


class OpenList(NamedTuple):
  """Lower scores are better; among equal ones the lower node number is."""

  scores: tf.Tensor  # [L, G, W] float32, CLOSED where expanded, no meaning beyond the last node
  best: tf.Tensor  # [L, G] float32, the least score of a node of the group


def group_size(num_nodes: int) -> int:
  """W: a power of two near the square root."""
  return 1 << max(_LEAST_GROUP_BITS, num_nodes.bit_length() // 2)


def padded_nodes(num_nodes: int) -> int:
  """G * W: at least so many nodes, in whole groups."""
  size = group_size(num_nodes)
  return -(-num_nodes // size) * size


def num_bytes(num_nodes: int) -> int:
  """Memory of one lane."""
  nodes = padded_nodes(num_nodes)
  return _SCORE_BYTES * (nodes + nodes // group_size(num_nodes))


def empty(num_lanes: tf.Tensor, num_nodes: int) -> OpenList:
  size = group_size(num_nodes)
  groups = padded_nodes(num_nodes) // size
  return OpenList(
    scores=tf.fill([num_lanes, groups, size], CLOSED), best=tf.fill([num_lanes, groups], CLOSED)
  )


def restart(open_list: OpenList, lanes: tf.Tensor, score: float) -> OpenList:
  """Leaves node 0 alone open in the marked lanes [L]."""
  num_groups, size = open_list.best.shape[1], open_list.scores.shape[2]
  last = num_groups * size - 1  # not a node that exists
  nodes = tf.where(lanes, 0, last)[:, None]
  best_of_new = tf.where(tf.range(num_groups) == 0, score, CLOSED)
  return OpenList(
    _write(open_list.scores, _places(nodes, size), tf.fill(tf.shape(nodes), score)),
    tf.where(lanes[:, None], best_of_new, open_list.best),
  )


def select(open_list: OpenList, created: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
  """Finds the best nodes of every lane.

  Args:
    open_list: G groups of W nodes.
    created: [L] int32, how many nodes there are; scores beyond belong to earlier problems.
    count: E.

  Returns:
    nodes: [L, E] int32, best first.
    are_open: [L, E] bool, False where a lane has fewer open nodes than that.
  """
  # The E best nodes are in the E groups with the best nodes. Going through those in order of their
  # numbers keeps the nodes in order, so that of equal scores the first is the lowest node.
  groups = tf.sort(_smallest(open_list.best, min(count, open_list.best.shape[1])), axis=1)
  nodes, scores = _members(open_list.scores, groups, created)
  flat = [tf.shape(nodes)[0], nodes.shape[1] * nodes.shape[2]]
  nodes, scores = tf.reshape(nodes, flat), tf.reshape(scores, flat)
  chosen = _smallest(scores, count)
  are_open = tf.gather(scores, chosen, batch_dims=1) < CLOSED
  return tf.gather(nodes, chosen, batch_dims=1), are_open


def update(
  open_list: OpenList, closed: tf.Tensor, opened: tf.Tensor, scores: tf.Tensor, created: tf.Tensor
) -> OpenList:
  """Closes nodes and opens others.

  Args:
    open_list: G groups of W nodes.
    closed: [L, E] int32 nodes.
    opened: [L, K] int32 nodes; those that do not exist are ignored.
    scores: [L, K] float32, of the opened nodes.
    created: [L] int32, how many nodes there are by now.
  """
  size = open_list.scores.shape[2]
  nodes = tf.concat([closed, opened], axis=1)
  values = tf.concat([tf.fill(tf.shape(closed), CLOSED), scores], axis=1)
  # One write only: after a second one XLA would copy all the scores in every step.
  all_scores = _write(open_list.scores, _places(nodes, size), values)
  groups = closed // size
  _, left = _members(all_scores, groups, created)
  best = _write(open_list.best, [groups], tf.reduce_min(left, axis=2))
  scores = tf.where(opened < created[:, None], scores, CLOSED)
  best = tf.tensor_scatter_nd_min(best, _indices([opened // size]), scores)
  return OpenList(all_scores, best)


def any_open(open_list: OpenList) -> tf.Tensor:
  """[L] bool."""
  return tf.reduce_min(open_list.best, axis=1) < CLOSED


def _members(
  scores: tf.Tensor, groups: tf.Tensor, created: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """Nodes and scores of the groups [L, E]: two tensors [L, E, W]."""
  size = scores.shape[2]
  nodes = groups[:, :, None] * size + tf.range(size)
  exists = nodes < created[:, None, None]
  return nodes, tf.where(exists, tf.gather(scores, groups, batch_dims=1), CLOSED)


def _smallest(values: tf.Tensor, count: int) -> tf.Tensor:
  """Where the smallest of each row are, in order; of equal ones the first: [L, count] int32."""
  if count == 1:
    return tf.argmin(values, axis=1, output_type=tf.int32)[:, None]
  return tf.math.top_k(-values, count).indices


def _places(nodes: tf.Tensor, size: int) -> list[tf.Tensor]:
  return [nodes // size, nodes % size]


def _write(values: tf.Tensor, places: list[tf.Tensor], updates: tf.Tensor) -> tf.Tensor:
  return tf.tensor_scatter_nd_update(values, _indices(places), updates)


def _indices(places: list[tf.Tensor]) -> tf.Tensor:
  """Puts the number of the lane in front of places [L, K] in it: [L, K, 1 + len(places)]."""
  lanes = tf.zeros_like(places[0]) + tf.range(tf.shape(places[0])[0])[:, None]
  return tf.stack([lanes, *places], axis=-1)
