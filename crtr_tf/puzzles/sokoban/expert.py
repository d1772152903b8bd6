"""The expert that supplies training trajectories: it solves levels well, but not optimally.

Each episode searches with its own random settings (see `push_search`), so the plans succeed and yet
take detours, as those of a trained agent do. All draws of an episode follow from its key.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from crtr_tf.puzzles.base import NO_ACTION
from crtr_tf.puzzles.sokoban import push_search, rooms, splitmix
from crtr_tf.puzzles.sokoban.board import read_level
from crtr_tf.puzzles.sokoban.cells import Cell

NODE_LIMIT = 20_000  # states stored by one search
MAX_ATTEMPTS = 10_000  # levels tried for one episode

# Each episode draws its own search settings up to these. They and rooms.MAX_REVERSE_STATES are set
# so that trajectories of 12x12 levels with four boxes are about as long as those of the paper: 50
# states on average, median 44, 90th percentile 82.
MAX_WEIGHT = 3.0
MAX_NOISE = 16.0
MAX_WALK_COST = 1.0

_FLOOR, _TARGET = int(Cell.FLOOR), int(Cell.TARGET)
_BOX_ON_TARGET, _BOX = int(Cell.BOX_ON_TARGET), int(Cell.BOX)
_PLAYER, _PLAYER_ON_TARGET = int(Cell.PLAYER), int(Cell.PLAYER_ON_TARGET)


class ExpertTrajectories(NamedTuple):
  """Trajectories as `base.Trajectories` defines them, in NumPy, and how many levels they took."""

  states: np.ndarray  # [B, T, S] uint8
  actions: np.ndarray  # [B, T - 1] int32
  lengths: np.ndarray  # [B] int32
  attempts: np.ndarray  # [B] int32, levels made until one gave a trajectory


def solve_level(
  state: np.ndarray,
  width: int,
  *,
  weight: float = 1.0,
  noise: float = 0.0,
  walk_cost: float = 0.0,
  key: int = 0,
  node_limit: int = NODE_LIMIT,
) -> list[int] | None:
  """Solves a level by weighted A* over pushes.

  Args:
    state: [S] uint8 with a player, a closed border and as many boxes as targets.
    width: of the board.
    weight: of the lower bound in the search. 1, without the next two, gives the fewest pushes.
    noise: up to how many pushes the order of the search is disturbed.
    walk_cost: of a step of the player between two pushes, which cost 1 each.
    key: uint64 that decides the disturbance.
    node_limit: gives up when the search has stored this many states.

  Returns:
    The actions (U D L R as 0 1 2 3), or None if there is no solution or the limit is reached.
  """
  board, boxes, player = read_level(state, width)
  if boxes.size > push_search.MAX_BOXES:
    raise ValueError(f"can solve levels of up to {push_search.MAX_BOXES} boxes; got {boxes.size}.")
  ended, pushes, _ = push_search.search(
    board,
    boxes,
    player,
    round(weight * push_search.COST_SCALE),
    np.uint64(round(noise * push_search.COST_SCALE)),
    round(walk_cost * push_search.COST_SCALE),
    np.uint64(key),
    node_limit,
  )
  if ended != push_search.SOLVED:
    return None
  return _join_pushes(board.wall, width, boxes, player, pushes).tolist()


def make_trajectories(
  keys: np.ndarray, height: int, width: int, num_boxes: int, max_states: int
) -> ExpertTrajectories:
  """One trajectory per key: [B] uint64 -> ExpertTrajectories with T = max_states.

  A level that the expert does not solve, or not within max_states, is dropped for the next one.
  """
  keys = np.asarray(keys, np.uint64)
  states = np.empty((keys.size, max_states, height * width), np.uint8)
  actions = np.full((keys.size, max_states - 1), NO_ACTION, np.int32)
  lengths, attempts = np.empty(keys.size, np.int32), np.empty(keys.size, np.int32)
  for row, key in enumerate(keys):
    level, plan, attempts[row] = _solved_level(key, height, width, num_boxes, max_states)
    actions[row, : len(plan)] = plan
    lengths[row] = len(plan) + 1
    _play(level, width, actions[row], states[row])
  return ExpertTrajectories(states, actions, lengths, attempts)


def _solved_level(
  key: np.uint64, height: int, width: int, num_boxes: int, max_states: int
) -> tuple[np.ndarray, list[int], int]:
  """The first level of an episode that the expert solves, its plan and the levels it took."""
  for attempt in range(MAX_ATTEMPTS):
    attempt_key = np.uint64(splitmix.bits(key, np.uint64(attempt)))
    level = rooms.make_level(attempt_key, height, width, num_boxes)
    plan = solve_level(level, width, **_draw_search(attempt_key))
    if plan is not None and len(plan) < max_states:
      return level, plan, attempt + 1
  raise RuntimeError(
    f"none of {MAX_ATTEMPTS} levels of {height}x{width} cells with {num_boxes} boxes was solved "
    f"within {max_states} states; use a larger max_trajectory_states or fewer boxes."
  )


def _draw_search(attempt_key: np.uint64) -> dict[str, float | int]:
  """Random settings of `solve_level`, from a stream of draws apart from that of the level."""
  generator = splitmix.start(np.uint64(splitmix.mix64(attempt_key)))
  weight, noise, walk = (splitmix.next_below(generator, 1 << 16) / (1 << 16) for _ in range(3))
  return {
    "weight": 1 + (MAX_WEIGHT - 1) * weight,
    "noise": MAX_NOISE * noise,
    "walk_cost": MAX_WALK_COST * walk**2,  # rather small: most experts walk a little too far
    "key": splitmix.next_bits(generator),
  }


@njit(cache=True, nogil=True)
def _join_pushes(wall, width, boxes, player, pushes):
  """Joins pushes by shortest walks of the player: the actions [L] int64."""
  steps = np.array([-width, width, -1, 1])
  solid = wall.copy()
  for box in boxes:
    solid[box] = True
  distance, queue = np.empty(wall.size, np.int64), np.empty(wall.size, np.int64)
  actions = np.empty(pushes.size * (wall.size + 1), np.int64)
  count = 0
  for push in pushes:
    box, direction = push >> 2, push & 3
    # Distances from where the player has to stand; the walk then goes downhill.
    distance[:] = -1
    queue[0], head, tail = box - steps[direction], 0, 1
    distance[queue[0]] = 0
    while distance[player] < 0:
      cell = queue[head]
      head += 1
      for step in steps:
        if not solid[cell + step] and distance[cell + step] < 0:
          distance[cell + step] = distance[cell] + 1
          queue[tail] = cell + step
          tail += 1
    while distance[player] > 0:
      action = 0
      while distance[player + steps[action]] != distance[player] - 1:
        action += 1
      actions[count] = action
      count += 1
      player += steps[action]
    solid[box], solid[box + steps[direction]] = False, True
    actions[count] = direction
    count += 1
    player = box
  return actions[:count].copy()


@njit(cache=True, nogil=True)
def _play(level, width, actions, states):
  """Fills `states` [T, S] with what valid actions [T - 1] make of a level.

  The last state and the padding behind it are the goal, which has no player.
  """
  steps = np.array([-width, width, -1, 1])
  player = 0
  for cell in range(level.size):
    states[0, cell] = level[cell]
    if level[cell] >= _PLAYER:
      player = cell
  t = 0
  while t < actions.size and actions[t] != NO_ACTION:
    for cell in range(level.size):
      states[t + 1, cell] = states[t, cell]
    t += 1
    state, step = states[t], steps[actions[t - 1]]
    state[player] -= _PLAYER - _FLOOR
    player += step
    if state[player] == _BOX or state[player] == _BOX_ON_TARGET:
      to = player + step
      state[to] = _BOX_ON_TARGET if state[to] == _TARGET else _BOX
      state[player] = _PLAYER_ON_TARGET if state[player] == _BOX_ON_TARGET else _PLAYER
    else:
      state[player] += _PLAYER - _FLOOR
  states[t, player] -= _PLAYER - _FLOOR
  for padding in range(t + 1, states.shape[0]):
    for cell in range(level.size):
      states[padding, cell] = states[t, cell]
