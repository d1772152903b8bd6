"""What a push search knows about a level before it starts: distances to targets and dead cells."""

from typing import NamedTuple

import numpy as np
from numba import njit

from crtr_tf.puzzles.sokoban import splitmix
from crtr_tf.puzzles.sokoban.cells import Cell

UNREACHABLE = 1 << 20  # pushes from a cell to a target that no sequence of pushes reaches

_HASH_SEED = 2


class Board(NamedTuple):
  """The parts of a level that no push changes. N boxes and targets, S cells."""

  wall: np.ndarray  # [S] bool
  steps: np.ndarray  # [4] int64, the change of the cell number in each direction U D L R
  is_target: np.ndarray  # [S] bool
  is_dead: np.ndarray  # [S] bool, cells from which a box reaches no target
  distances: np.ndarray  # [N, S] int32, pushes to each target on the empty board, a lower bound
  hashes: np.ndarray  # [2, S] uint64, random numbers of a player and of a box on each cell


def read_level(state: np.ndarray, width: int) -> tuple[Board, np.ndarray, int]:
  """The board, the cells of the boxes [N] int64 and the player's cell of a state [S] uint8.

  Raises:
    ValueError: unless there are one player and as many boxes as targets, at least one, and the
      border is wall (the search relies on it and checks no bounds).
  """
  state = np.asarray(state, np.uint8)
  rows = state.reshape(-1, width)
  if rows[[0, -1]].any() or rows[:, [0, -1]].any():
    raise ValueError("the border of a level to solve must be wall.")
  has_box = (state == Cell.BOX) | (state == Cell.BOX_ON_TARGET)
  player = np.flatnonzero(state >= Cell.PLAYER)
  is_target = (state == Cell.TARGET) | (state == Cell.BOX_ON_TARGET)
  is_target |= state == Cell.PLAYER_ON_TARGET
  boxes, targets = np.flatnonzero(has_box), np.flatnonzero(is_target)
  if player.size != 1 or boxes.size != targets.size or boxes.size == 0:
    raise ValueError(
      "a level to solve must have one player and as many boxes as targets, at least one; "
      f"got {player.size} players, {boxes.size} boxes and {targets.size} targets."
    )
  wall = state == Cell.WALL
  distances = _target_distances(wall, width, targets)
  board = Board(
    wall=wall,
    steps=np.array([-width, width, -1, 1]),
    is_target=is_target,
    is_dead=np.all(distances == UNREACHABLE, axis=0),
    distances=distances,
    hashes=splitmix.random_table(_HASH_SEED, 2, state.size),
  )
  return board, boxes, int(player[0])


@njit(cache=True, nogil=True)
def _target_distances(wall, width, targets):
  """Pushes that a lone box needs from each cell to each target: [N, S] int32.

  The player is taken to be on the right side always, so these are lower bounds.
  """
  distances = np.full((targets.size, wall.size), UNREACHABLE, np.int32)
  queue = np.empty(wall.size, np.int64)
  for t in range(targets.size):
    queue[0], head, tail = targets[t], 0, 1
    distances[t, targets[t]] = 0
    while head < tail:
      cell = queue[head]
      head += 1
      for step in (-width, width, -1, 1):  # Pulls a step; the player needs the cell beyond.
        to = cell + step
        if not wall[to] and not wall[to + step] and distances[t, to] == UNREACHABLE:
          distances[t, to] = distances[t, cell] + 1
          queue[tail] = to
          tail += 1
  return distances
