"""Best-first search and A*: always expand the open node with the least score.

Axes: L lanes, N nodes, S cells, A actions, E nodes expanded at once, K = E * A children of a lane.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import duplicates, hash_table, open_list, scoring
from crtr_tf.search import heuristic as heuristics
from crtr_tf.search.lanes import NO_NODE, ROOT

_INT32_BYTES = 4
_COPIES = 3  # of what belongs to a child, while it is being expanded
_ROOT_SCORE = 0.0  # of no consequence: while the root is open it is the only node


class Tree(NamedTuple):
  """The search trees of all lanes. The last node is a bin, never part of the tree."""

  states: tf.Tensor  # [L, N, S] uint8
  edges: tf.Tensor  # [L, N] int32, parent * A + action
  depths: tf.Tensor  # [L, N] int32
  opened: open_list.OpenList  # [L, N] as groups
  known: tf.Tensor  # [L, T + 1] int64, hash table of the states in the tree
  tags: tf.Tensor  # [L] int32, tell the entries of this tree from those of earlier ones
  goal_node: tf.Tensor  # [L] int32, or NO_NODE
  created: tf.Tensor  # [L] int32
  expanded: tf.Tensor  # [L] int32


class Candidates(NamedTuple):
  """The children of the nodes that a step expands, lane by lane in the order of creation."""

  states: tf.Tensor  # [L, K, S] uint8
  edges: tf.Tensor  # [L, K] int32
  depths: tf.Tensor  # [L, K] int32
  keys: tf.Tensor  # [L, K] int64
  slots: tf.Tensor  # [L, K] int32, the free slots of the hash table where their keys could go
  solved: tf.Tensor  # [L, K] bool
  new: tf.Tensor  # [L, K] bool: a possible move to a state that is not in the tree


@dataclasses.dataclass(frozen=True)
class BestFirst:
  """The algorithm; see `solvers.best_first` for the arguments."""

  puzzle: base.Puzzle
  heuristic: heuristics.Heuristic
  budget: int
  alpha: float = 0.0
  top_k: int | None = None
  expand_batch: int = 1
  rows: int = scoring.DEFAULT_ROWS

  @property
  def max_plan_length(self) -> int:
    return self.budget - 1

  @property
  def num_nodes(self) -> int:
    """N: the budget and the bin, in whole groups of the open list."""
    return open_list.padded_nodes(self.budget + 1)

  def lane_bytes(self) -> int:
    """Memory of one lane."""
    node = self.puzzle.state_size + 2 * _INT32_BYTES
    child = _COPIES * (self.puzzle.state_size + 8 * _INT32_BYTES)
    return (
      node * self.num_nodes
      + open_list.num_bytes(self.budget + 1)
      + hash_table.num_bytes(self.budget)
      + child * self.expand_batch * self.puzzle.num_actions
    )

  def empty(self, states: tf.Tensor) -> Tree:
    num_lanes = tf.shape(states)[0]
    nodes = [num_lanes, self.num_nodes]
    return Tree(
      states=tf.tile(states[:, None], [1, self.num_nodes, 1]),
      edges=tf.zeros(nodes, tf.int32),
      depths=tf.zeros(nodes, tf.int32),
      opened=open_list.empty(num_lanes, self.budget + 1),
      known=hash_table.empty(num_lanes, self.budget),
      tags=tf.zeros([num_lanes], tf.int32),
      goal_node=tf.fill([num_lanes], NO_NODE),
      created=tf.zeros([num_lanes], tf.int32),
      expanded=tf.zeros([num_lanes], tf.int32),
    )

  def start(self, tree: Tree, lanes: tf.Tensor, states: tf.Tensor, tags: tf.Tensor) -> Tree:
    """Plants the roots. What is left of the trees before them is overwritten as nodes come."""
    tags = tf.where(lanes, tags, tree.tags)
    solved = tf.where(self.puzzle.is_solved(states), ROOT, NO_NODE)
    nodes = tf.where(lanes, ROOT, self.num_nodes - 1)[:, None]
    return Tree(
      states=_write(tree.states, nodes, states[:, None]),
      edges=tree.edges,
      depths=_write(tree.depths, nodes, tf.zeros_like(nodes)),
      opened=open_list.restart(tree.opened, lanes, _ROOT_SCORE),
      known=hash_table.restart(tree.known, tags, self.puzzle.hash(states), lanes),
      tags=tags,
      goal_node=tf.where(lanes, solved, tree.goal_node),
      created=tf.where(lanes, 1, tree.created),
      expanded=tf.where(lanes, 0, tree.expanded),
    )

  def finished(self, tree: Tree) -> tf.Tensor:
    return (
      (tree.goal_node != NO_NODE) | (tree.created >= self.budget) | ~open_list.any_open(tree.opened)
    )

  def step(self, tree: Tree, contexts: tf.Tensor) -> Tree:
    parents, chosen = self._select(tree)
    candidates = self._expand(tree, parents, chosen)
    candidates, scores = self._score(tree, candidates, contexts)
    return self._insert(tree, parents, chosen, candidates, scores)

  def _select(self, tree: Tree) -> tuple[tf.Tensor, tf.Tensor]:
    """The best open nodes [L, E]; [L, E] bool says where there is one to be expanded."""
    nodes, are_open = open_list.select(tree.opened, tree.created, self.expand_batch)
    return nodes, are_open & ~self.finished(tree)[:, None]

  def _expand(self, tree: Tree, parents: tf.Tensor, chosen: tf.Tensor) -> Candidates:
    """The children of the chosen ones among the parents [L, E]."""
    size, actions = self.puzzle.state_size, self.puzzle.num_actions
    num_lanes, num_parents = tf.shape(parents)[0], parents.shape[1]
    shape = [num_lanes, num_parents * actions]
    expanding = tf.gather(tree.states, parents, batch_dims=1)
    children, valid = self.puzzle.children(tf.reshape(expanding, [-1, size]))
    valid = tf.reshape(valid, [num_lanes, num_parents, actions]) & chosen[:, :, None]
    valid = tf.reshape(valid, shape)
    children = tf.reshape(children, [*shape, size])
    keys = self.puzzle.hash(children)
    present, slots = hash_table.find(tree.known, tree.tags, keys, valid)
    edges = parents[:, :, None] * actions + tf.range(actions)
    depths = 1 + tf.gather(tree.depths, parents, batch_dims=1)
    solved = self.puzzle.is_solved(tf.reshape(children, [-1, size]))
    return Candidates(
      states=children,
      edges=tf.reshape(edges, shape),
      depths=tf.repeat(depths, actions, axis=1),
      keys=keys,
      slots=slots,
      solved=tf.reshape(solved, shape),
      new=duplicates.first_occurrences(keys, valid & ~present),
    )

  def _score(
    self, tree: Tree, candidates: Candidates, contexts: tf.Tensor
  ) -> tuple[Candidates, tf.Tensor]:
    """Leaves as `new` only what will be created, and gives the scores [L, K] of that."""
    if self.top_k is None:  # What will be created is known without the distances.
      candidates = candidates._replace(new=self._admitted(tree, candidates))
    scores = scoring.distances(
      self.heuristic, candidates.states, contexts, candidates.new, self.rows
    )
    if self.top_k is not None:
      best = self._best_children(candidates, scores)
      candidates = candidates._replace(new=candidates.new & best)
      candidates = candidates._replace(new=self._admitted(tree, candidates))
    return candidates, scores + self.alpha * tf.cast(candidates.depths, tf.float32)

  def _admitted(self, tree: Tree, candidates: Candidates) -> tf.Tensor:
    """The new candidates in order, up to the first solved one and to the end of the budget."""
    new = tf.cast(candidates.new, tf.int32)
    solved = tf.cast(candidates.solved & candidates.new, tf.int32)
    within_budget = tree.created[:, None] + tf.cumsum(new, axis=1) <= self.budget
    none_solved_before = tf.cumsum(solved, axis=1, exclusive=True) == 0
    return candidates.new & within_budget & none_solved_before

  def _best_children(self, candidates: Candidates, scores: tf.Tensor) -> tf.Tensor:
    """Marks the `top_k` nearest new children of each parent; a solved one is always among them."""
    # Behind all that are new, even those that lead nowhere, come those that are not.
    scores = tf.where(candidates.solved, -float("inf"), tf.minimum(scores, scores.dtype.max))
    scores = tf.where(candidates.new, scores, float("inf"))
    by_parent = [tf.shape(scores)[0], self.expand_batch, self.puzzle.num_actions]
    scores = tf.reshape(scores, by_parent)
    order = tf.argsort(scores, axis=2, stable=True)
    ranks = tf.argsort(order, axis=2)
    return tf.reshape(ranks < self.top_k, tf.shape(candidates.new))

  def _insert(
    self,
    tree: Tree,
    parents: tf.Tensor,
    chosen: tf.Tensor,
    candidates: Candidates,
    scores: tf.Tensor,
  ) -> Tree:
    new = candidates.new
    count = tf.cumsum(tf.cast(new, tf.int32), axis=1)
    created = tree.created + count[:, -1]
    nodes = tf.where(new, tree.created[:, None] + count - 1, self.num_nodes - 1)
    goals = tf.where(new & candidates.solved, nodes, NO_NODE)
    return tree._replace(
      states=_write(tree.states, nodes, candidates.states),
      edges=_write(tree.edges, nodes, candidates.edges),
      depths=_write(tree.depths, nodes, candidates.depths),
      opened=open_list.update(tree.opened, parents, nodes, scores, created),
      known=hash_table.insert(tree.known, tree.tags, candidates.keys, candidates.slots, new),
      goal_node=tf.maximum(tree.goal_node, tf.reduce_max(goals, axis=1)),
      created=created,
      expanded=tree.expanded + tf.reduce_sum(tf.cast(chosen, tf.int32), axis=1),
    )


def _write(values: tf.Tensor, nodes: tf.Tensor, updates: tf.Tensor) -> tf.Tensor:
  """Writes updates [L, K, ...] to nodes [L, K] of values [L, N, ...]."""
  lanes = tf.zeros_like(nodes) + tf.range(tf.shape(nodes)[0])[:, None]
  return tf.tensor_scatter_nd_update(values, tf.stack([lanes, nodes], axis=-1), updates)
