"""Beam search: all children of a layer, of which the nearest to the goal make the next layer.

Axes: L lanes, W places of a layer, D layers below the root, S cells, A actions, K = W * A children.
Node n is place n % W of layer n // W, so the root is place 0 of layer 0.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import duplicates, scoring
from crtr_tf.search import heuristic as heuristics
from crtr_tf.search.lanes import NO_NODE, ROOT

_INT32_BYTES = 4
_KEY_BYTES = 8
_COPIES = 3  # of what belongs to a child, while a layer is sorted out


class Beam(NamedTuple):
  """The current layer of each lane, and how all layers were reached."""

  states: tf.Tensor  # [L, W, S] uint8
  keys: tf.Tensor  # [L, W] int64, their hashes
  alive: tf.Tensor  # [L, W] bool, the places that are taken
  keys_before: tf.Tensor  # [L, W] int64, of the layer before
  alive_before: tf.Tensor  # [L, W] bool
  depth: tf.Tensor  # [L] int32, the number of the layer
  edges: tf.Tensor  # [L, (D + 1) * W] int32, parent * A + action
  goal_node: tf.Tensor  # [L] int32, or NO_NODE
  created: tf.Tensor  # [L] int32
  expanded: tf.Tensor  # [L] int32


class Candidates(NamedTuple):
  """The children of a layer."""

  states: tf.Tensor  # [L, K, S] uint8
  keys: tf.Tensor  # [L, K] int64
  solved: tf.Tensor  # [L, K] bool
  new: tf.Tensor  # [L, K] bool, neither a duplicate nor behind a solved one


@dataclasses.dataclass(frozen=True)
class BeamSearch:
  """The algorithm; see `solvers.BeamSolver` for the arguments."""

  puzzle: base.Puzzle
  heuristic: heuristics.Heuristic
  width: int
  max_depth: int
  rows: int = scoring.DEFAULT_ROWS

  @property
  def max_plan_length(self) -> int:
    return self.max_depth

  def lane_bytes(self) -> int:
    """Memory of one lane."""
    child = self.puzzle.state_size + 3 * _KEY_BYTES + 4 * _INT32_BYTES
    children = _COPIES * self.width * self.puzzle.num_actions * child
    return children + _INT32_BYTES * (self.max_depth + 1) * self.width

  def empty(self, states: tf.Tensor) -> Beam:
    num_lanes = tf.shape(states)[0]
    places = [num_lanes, self.width]
    return Beam(
      states=tf.tile(states[:, None], [1, self.width, 1]),
      keys=tf.zeros(places, tf.int64),
      alive=tf.zeros(places, tf.bool),
      keys_before=tf.zeros(places, tf.int64),
      alive_before=tf.zeros(places, tf.bool),
      depth=tf.zeros([num_lanes], tf.int32),
      edges=tf.zeros([num_lanes, (self.max_depth + 1) * self.width], tf.int32),
      goal_node=tf.fill([num_lanes], NO_NODE),
      created=tf.zeros([num_lanes], tf.int32),
      expanded=tf.zeros([num_lanes], tf.int32),
    )

  def start(self, beam: Beam, lanes: tf.Tensor, states: tf.Tensor, tags: tf.Tensor) -> Beam:
    del tags  # Nothing of an earlier problem is left to be told apart.
    marked, is_root = lanes[:, None], tf.range(self.width) == ROOT
    goals = tf.where(self.puzzle.is_solved(states), ROOT, NO_NODE)
    return beam._replace(
      states=tf.where(marked[:, :, None], states[:, None], beam.states),
      keys=tf.where(marked, self.puzzle.hash(states)[:, None], beam.keys),
      alive=tf.where(marked, is_root, beam.alive),
      alive_before=beam.alive_before & ~marked,
      depth=tf.where(lanes, 0, beam.depth),
      goal_node=tf.where(lanes, goals, beam.goal_node),
      created=tf.where(lanes, 1, beam.created),
      expanded=tf.where(lanes, 0, beam.expanded),
    )

  def finished(self, beam: Beam) -> tf.Tensor:
    return (
      (beam.goal_node != NO_NODE)
      | (beam.depth >= self.max_depth)
      | ~tf.reduce_any(beam.alive, axis=1)
    )

  def step(self, beam: Beam, contexts: tf.Tensor) -> Beam:
    running = ~self.finished(beam)
    candidates = self._expand(beam, running)
    chosen, alive = self._select(candidates, contexts)
    return self._descend(beam, running, candidates, chosen, alive)

  def _expand(self, beam: Beam, running: tf.Tensor) -> Candidates:
    size, shape = self.puzzle.state_size, [tf.shape(running)[0], -1]
    parents = tf.reshape(beam.states, [-1, size])
    children, valid = self.puzzle.children(parents)
    valid = valid & tf.reshape(beam.alive & running[:, None], [-1, 1])
    valid = tf.reshape(valid, shape)
    keys = tf.reshape(self.puzzle.hash(children), shape)
    solved = self.puzzle.is_solved(tf.reshape(children, [-1, size]))
    # A move that takes back the last one leads to the layer before this one.
    first = duplicates.first_occurrences(
      tf.concat([beam.keys_before, beam.keys, keys], axis=1),
      tf.concat([beam.alive_before, beam.alive, valid], axis=1),
    )
    new = first[:, 2 * self.width :]
    solved = new & tf.reshape(solved, shape)
    solved_before = tf.cumsum(tf.cast(solved, tf.int32), axis=1, exclusive=True)
    return Candidates(
      states=tf.reshape(children, [shape[0], self.width * self.puzzle.num_actions, size]),
      keys=keys,
      solved=solved,
      new=new & (solved_before == 0),
    )

  def _select(self, candidates: Candidates, contexts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The next layer as numbers of candidates [L, W], nearest first, and whether there is one."""
    # Where a child is solved, that one is all that matters: no distance is needed.
    wanted = candidates.new & ~tf.reduce_any(candidates.solved, axis=1, keepdims=True)
    scores = scoring.distances(self.heuristic, candidates.states, contexts, wanted, self.rows)
    scores = tf.where(candidates.solved & candidates.new, -float("inf"), scores)
    values, chosen = tf.math.top_k(-scores, self.width)
    return chosen, values > -float("inf")

  def _descend(
    self,
    beam: Beam,
    running: tf.Tensor,
    candidates: Candidates,
    chosen: tf.Tensor,
    alive: tf.Tensor,
  ) -> Beam:
    """Makes the chosen candidates the current layer of the lanes that are running."""
    marked = running[:, None]
    nodes = beam.depth[:, None] * self.width + chosen // self.puzzle.num_actions
    edges = nodes * self.puzzle.num_actions + chosen % self.puzzle.num_actions
    depth = beam.depth + tf.cast(running, tf.int32)
    found = running & tf.gather(candidates.solved, chosen[:, 0], batch_dims=1) & alive[:, 0]
    states = tf.gather(candidates.states, chosen, batch_dims=1)
    return Beam(
      states=tf.where(marked[:, :, None], states, beam.states),
      keys=tf.where(marked, tf.gather(candidates.keys, chosen, batch_dims=1), beam.keys),
      alive=tf.where(marked, alive, beam.alive),
      keys_before=tf.where(marked, beam.keys, beam.keys_before),
      alive_before=tf.where(marked, beam.alive, beam.alive_before),
      depth=depth,
      edges=self._write_layer(beam.edges, depth, edges, running),
      goal_node=tf.where(found, depth * self.width, beam.goal_node),
      created=beam.created + _count(candidates.new),
      expanded=beam.expanded + tf.where(running, _count(beam.alive), 0),
    )

  def _write_layer(
    self, all_edges: tf.Tensor, depth: tf.Tensor, edges: tf.Tensor, running: tf.Tensor
  ) -> tf.Tensor:
    """Puts the edges [L, W] of the layers [L] into their place."""
    layers = tf.reshape(all_edges, [-1, self.width])  # [L * (D + 1), W]
    rows = tf.range(tf.shape(depth)[0]) * (self.max_depth + 1) + depth
    # Where nothing runs, the layer is written again as it is.
    edges = tf.where(running[:, None], edges, tf.gather(layers, rows))
    return tf.reshape(
      tf.tensor_scatter_nd_update(layers, rows[:, None], edges), tf.shape(all_edges)
    )


def _count(marks: tf.Tensor) -> tf.Tensor:
  """[L, K] bool -> [L] int32."""
  return tf.reduce_sum(tf.cast(marks, tf.int32), axis=1)
