"""No search: walk to the nearest neighbour that has not been visited, again and again.

Axes: L lanes, N = max_steps + 1 nodes (and a bin), S cells, A actions. The visited states are the
nodes, numbered by the step at which they were reached.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import hash_table, scoring
from crtr_tf.search import heuristic as heuristics
from crtr_tf.search.lanes import NO_NODE, ROOT

_INT32_BYTES = 4


class Walk(NamedTuple):
  """One walk per lane."""

  states: tf.Tensor  # [L, S] uint8, where it is now
  edges: tf.Tensor  # [L, N + 1] int32, previous node * A + action; the last one is a bin
  visited: tf.Tensor  # [L, T + 1] int64, hash table
  tags: tf.Tensor  # [L] int32, tell the entries of this walk from those of earlier ones
  stuck: tf.Tensor  # [L] bool, all neighbours were visited, or there is no walk yet
  goal_node: tf.Tensor  # [L] int32, or NO_NODE
  created: tf.Tensor  # [L] int32, visited states
  expanded: tf.Tensor  # [L] int32, visited states whose neighbours were looked at


class Neighbours(NamedTuple):
  """What the possible moves lead to."""

  states: tf.Tensor  # [L, A, S] uint8
  keys: tf.Tensor  # [L, A] int64
  slots: tf.Tensor  # [L, A] int32, free slots of the hash table where their keys could go
  solved: tf.Tensor  # [L, A] bool, new and solved
  new: tf.Tensor  # [L, A] bool: a possible move to a state that was not visited


@dataclasses.dataclass(frozen=True)
class Greedy:
  """The algorithm; see `solvers.GreedySolver` for the arguments."""

  puzzle: base.Puzzle
  heuristic: heuristics.Heuristic
  max_steps: int
  rows: int = scoring.DEFAULT_ROWS

  @property
  def max_plan_length(self) -> int:
    return self.max_steps

  def lane_bytes(self) -> int:
    """Memory of one lane."""
    table = hash_table.num_bytes(self.max_steps + 1)
    return table + _INT32_BYTES * (self.max_steps + 2) + self.puzzle.state_size

  def empty(self, states: tf.Tensor) -> Walk:
    num_lanes = tf.shape(states)[0]
    return Walk(
      states=states,
      edges=tf.zeros([num_lanes, self.max_steps + 2], tf.int32),
      visited=hash_table.empty(num_lanes, self.max_steps + 1),
      tags=tf.zeros([num_lanes], tf.int32),
      stuck=tf.ones([num_lanes], tf.bool),  # A lane that no problem comes to must not walk.
      goal_node=tf.fill([num_lanes], NO_NODE),
      created=tf.zeros([num_lanes], tf.int32),
      expanded=tf.zeros([num_lanes], tf.int32),
    )

  def start(self, walk: Walk, lanes: tf.Tensor, states: tf.Tensor, tags: tf.Tensor) -> Walk:
    tags = tf.where(lanes, tags, walk.tags)
    goals = tf.where(self.puzzle.is_solved(states), ROOT, NO_NODE)
    return Walk(
      states=tf.where(lanes[:, None], states, walk.states),
      edges=walk.edges,
      visited=hash_table.restart(walk.visited, tags, self.puzzle.hash(states), lanes),
      tags=tags,
      stuck=walk.stuck & ~lanes,
      goal_node=tf.where(lanes, goals, walk.goal_node),
      created=tf.where(lanes, 1, walk.created),
      expanded=tf.where(lanes, 0, walk.expanded),
    )

  def finished(self, walk: Walk) -> tf.Tensor:
    return (walk.goal_node != NO_NODE) | walk.stuck | (walk.created > self.max_steps)

  def step(self, walk: Walk, contexts: tf.Tensor) -> Walk:
    running = ~self.finished(walk)
    neighbours = self._look_around(walk, running)
    actions, moves = self._nearest(neighbours, contexts)
    return self._move(walk, running, neighbours, actions, moves)

  def _look_around(self, walk: Walk, running: tf.Tensor) -> Neighbours:
    states, valid = self.puzzle.children(walk.states)
    valid &= running[:, None]
    keys = self.puzzle.hash(states)
    present, slots = hash_table.find(walk.visited, walk.tags, keys, valid)
    solved = self.puzzle.is_solved(tf.reshape(states, [-1, self.puzzle.state_size]))
    new = valid & ~present
    return Neighbours(states, keys, slots, new & tf.reshape(solved, tf.shape(new)), new)

  def _nearest(self, neighbours: Neighbours, contexts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The best actions [L] and, as [L] bool, where there is one at all."""
    # A solved neighbour is recognised when it is seen, however far the heuristic believes it is.
    wanted = neighbours.new & ~tf.reduce_any(neighbours.solved, axis=1, keepdims=True)
    distances = scoring.distances(self.heuristic, neighbours.states, contexts, wanted, self.rows)
    distances = tf.where(neighbours.solved, -float("inf"), distances)
    actions = tf.argmin(distances, axis=1, output_type=tf.int32)
    return actions, tf.reduce_min(distances, axis=1) < float("inf")

  def _move(
    self,
    walk: Walk,
    running: tf.Tensor,
    neighbours: Neighbours,
    actions: tf.Tensor,
    moves: tf.Tensor,
  ) -> Walk:
    states, keys, slots, solved, _ = (
      tf.gather(part, actions[:, None], batch_dims=1) for part in neighbours
    )  # [L, 1, ...]
    lanes, bin_node = tf.range(tf.shape(actions)[0]), self.max_steps + 1
    places = tf.stack([lanes, tf.where(moves, walk.created, bin_node)], axis=-1)
    edges = (walk.created - 1) * self.puzzle.num_actions + actions
    return walk._replace(
      states=tf.where(moves[:, None], states[:, 0], walk.states),
      edges=tf.tensor_scatter_nd_update(walk.edges, places, edges),
      visited=hash_table.insert(walk.visited, walk.tags, keys, slots, moves[:, None]),
      stuck=walk.stuck | (running & ~moves),
      goal_node=tf.where(moves & solved[:, 0], walk.created, walk.goal_node),
      created=walk.created + tf.cast(moves, tf.int32),
      expanded=walk.expanded + tf.cast(running, tf.int32),
    )
