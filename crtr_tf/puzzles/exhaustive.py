"""Complete breadth-first search: exact distances in puzzles small enough to list every state.

An oracle for tests and for measuring heuristics. Where every move can be undone, the distance from
the goal is also the distance to it.
"""

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base

_CHUNK = 1 << 16  # states whose children are made at once; bounds the memory, not the result


def distances_from(
  puzzle: base.Puzzle, sources: np.ndarray, max_states: int = 5_000_000
) -> tuple[np.ndarray, np.ndarray]:
  """Finds every state that moves can reach, layer by layer.

  States are told apart by their 64-bit hashes: among five million, two share one with a probability
  of about one in a million.

  Args:
    puzzle: gives the moves.
    sources: [M, S] uint8, the states at distance 0; duplicates are harmless.
    max_states: how many states may be held in memory.

  Returns:
    states: [N, S] uint8, every reachable state once, in the order of distance.
    distances: [N] int32, the least number of moves from any of the sources.

  Raises:
    ValueError: if more than `max_states` states can be reached.
  """
  layer, seen = _unique(puzzle, np.asarray(sources, np.uint8))
  layers = [layer]
  while len(layer):
    if len(seen) > max_states:
      raise ValueError(
        f"{puzzle.name} has more than max_states = {max_states} reachable states; "
        f"gave up at distance {len(layers) - 1}."
      )
    layer, hashes = _new_children(puzzle, layer, seen)
    layers.append(layer)
    # A stable sort merges two sorted runs in linear time.
    seen = np.sort(np.concatenate([seen, hashes]), kind="stable")
  distances = np.repeat(np.arange(len(layers), dtype=np.int32), [len(one) for one in layers])
  return np.concatenate(layers), distances


def _new_children(
  puzzle: base.Puzzle, layer: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """The children [K, S] of a layer [L, S] whose hashes [K] are not yet in `seen` (sorted)."""
  found = []
  for start in range(0, len(layer), _CHUNK):
    children = puzzle.children(tf.constant(layer[start : start + _CHUNK]))
    states, hashes = _unique(puzzle, children.states.numpy()[children.valid.numpy()])
    places = np.minimum(np.searchsorted(seen, hashes), len(seen) - 1)
    found.append(states[seen[places] != hashes])
  return _unique(puzzle, np.concatenate(found))


def _unique(puzzle: base.Puzzle, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Drops duplicates: [M, S] -> states [K, S] and their hashes [K], sorted by hash."""
  hashes, first = np.unique(puzzle.hash(tf.constant(states)).numpy(), return_index=True)
  return states[first], hashes
