"""The same searches in plain Python, one problem and one node at a time.

Written to be read and trusted, not to be fast: tests compare the compiled searches with these, plan
by plan and node by node, and benchmarks measure what compiling gains. Duplicates are told by the
states themselves, so the comparison also shows that hashing loses nothing.
"""

import functools
import heapq
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base

StateDistance = Callable[[np.ndarray], float]  # [S] uint8 -> distance to the goal of the problem


class Solution(NamedTuple):
  """The outcome of one problem; see `SearchResult` for what is counted."""

  plan: list[int] | None
  nodes: int
  expanded: int


class Node(NamedTuple):
  """A state and how it was reached."""

  state: np.ndarray  # [S] uint8
  is_solved: bool
  parent: "Node | None" = None
  action: int = base.NO_ACTION
  depth: int = 0

  @property
  def key(self) -> bytes:
    return self.state.tobytes()


def best_first(
  puzzle: base.Puzzle,
  distance: StateDistance,
  start: np.ndarray,
  budget: int,
  alpha: float = 0.0,
  top_k: int | None = None,
  expand_batch: int = 1,
) -> Solution:
  """Best-first search and A*; the arguments are those of `BestFirstSolver`.

  The queue is ordered by (score, number of the node), and nodes are numbered as they are created.
  """
  root = _root(puzzle, start)
  if root.is_solved:
    return Solution([], nodes=1, expanded=0)
  tree, known, queue, expanded = [root], {root.key}, [(0.0, 0)], 0
  while queue and len(tree) < budget:
    parents = [tree[heapq.heappop(queue)[1]] for _ in range(min(expand_batch, len(queue)))]
    expanded += len(parents)
    siblings: set[bytes] = set()
    scored = []
    for parent in parents:
      new = _new_children(puzzle, parent, known, siblings)
      scored += _nearest(new, _distances(distance, new), top_k)
    for child, child_distance in scored[: budget - len(tree)]:
      score = child_distance + alpha * child.depth
      if score < math.inf:
        heapq.heappush(queue, (score, len(tree)))
      tree.append(child)
      known.add(child.key)
      if child.is_solved:
        return Solution(_plan(child), len(tree), expanded)
  return Solution(None, len(tree), expanded)


def greedy(
  puzzle: base.Puzzle, distance: StateDistance, start: np.ndarray, max_steps: int
) -> Solution:
  """The walk to the nearest neighbour; the arguments are those of `GreedySolver`."""
  node, expanded = _root(puzzle, start), 0
  visited = {node.key}
  while not node.is_solved and node.depth < max_steps:
    expanded += 1
    new = _new_children(puzzle, node, visited, set())
    nearest = _nearest(new, _distances(distance, new), 1)
    if not nearest or (nearest[0][1] == math.inf and not nearest[0][0].is_solved):
      break
    node = nearest[0][0]
    visited.add(node.key)
  return Solution(_plan(node) if node.is_solved else None, len(visited), expanded)


def beam(
  puzzle: base.Puzzle, distance: StateDistance, start: np.ndarray, width: int, max_depth: int
) -> Solution:
  """Beam search; the arguments are those of `BeamSolver`."""
  before, layer = [], [_root(puzzle, start)]
  if layer[0].is_solved:
    return Solution([], nodes=1, expanded=0)
  nodes, expanded = 1, 0
  for _ in range(max_depth):
    expanded += len(layer)
    known, siblings = {node.key for node in before + layer}, set()
    children = []
    for parent in layer:
      for child in _new_children(puzzle, parent, known, siblings):
        nodes += 1
        if child.is_solved:
          return Solution(_plan(child), nodes, expanded)
        children.append(child)
    scores = _distances(distance, children)
    order = sorted(range(len(children)), key=scores.__getitem__)[:width]
    before, layer = layer, [children[i] for i in order if scores[i] < math.inf]
  return Solution(None, nodes, expanded)


def _distances(distance: StateDistance, nodes: list[Node]) -> list[float]:
  """Of each node, one at a time; a distance that is no number says that there is no way."""
  distances = [distance(node.state) for node in nodes]
  return [math.inf if math.isnan(one) else one for one in distances]


def _nearest(
  nodes: list[Node], distances: list[float], count: int | None
) -> list[tuple[Node, float]]:
  """The `count` nearest (all if None) with their distances, in their old order.

  A solved one is recognised when it is seen, however far away it is believed to be.
  """

  def rank(number: int) -> float:
    return -math.inf if nodes[number].is_solved else distances[number]

  kept = sorted(range(len(nodes)), key=rank)[:count]
  return [(nodes[number], distances[number]) for number in sorted(kept)]


def _plan(node: Node) -> list[int]:
  actions = []
  while node.parent:
    actions.append(node.action)
    node = node.parent
  return actions[::-1]


def _root(puzzle: base.Puzzle, start: np.ndarray) -> Node:
  return Node(start, bool(puzzle.is_solved(tf.constant(start)[None])[0]))


def _new_children(
  puzzle: base.Puzzle, parent: Node, known: set[bytes], siblings: set[bytes]
) -> list[Node]:
  """Children in neither of the sets; they are added to `siblings`."""
  found = []
  states, valid, solved = (part.numpy() for part in _compiled_children(puzzle)(parent.state[None]))
  for action in np.flatnonzero(valid):
    child = Node(states[action], bool(solved[action]), parent, int(action), parent.depth + 1)
    if child.key not in known and child.key not in siblings:
      siblings.add(child.key)
      found.append(child)
  return found


@functools.lru_cache(maxsize=16)
def _compiled_children(puzzle: base.Puzzle) -> Callable[[np.ndarray], tuple[tf.Tensor, ...]]:
  @tf.function(jit_compile=True)
  def children(state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    states, valid = puzzle.children(state)
    return states[0], valid[0], puzzle.is_solved(states[0])

  return children
