"""Random levels that can be solved: dig a room, place boxes on targets, pull the boxes away.

Every level is a function of one uint64 key. Boards are flat, cell = row * width + column, and the
directions are U D L R as in `grid`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from crtr_tf.puzzles.sokoban import splitmix
from crtr_tf.puzzles.sokoban.cells import Cell

WALK_STEPS_PER_SIDE = 1.7  # steps of the digging walk / (height + width)
TURN_PERCENT = 35  # how often the walk turns
MAX_DEPTH = 300  # moves from the solved board to the level, at most
MAX_REVERSE_STATES = 20_000  # boards that the reverse play of one room looks at
MAX_ROOMS = 10_000  # rooms tried for one level before giving up

_WALL, _FLOOR, _TARGET, _BOX = int(Cell.WALL), int(Cell.FLOOR), int(Cell.TARGET), int(Cell.BOX)
_PLAYER, _PLAYER_ON_TARGET = int(Cell.PLAYER), int(Cell.PLAYER_ON_TARGET)

# Shapes that the walk opens around each cell it visits: a bar, a bar, two corners, a fat corner.
_SHAPES = np.array(
  [
    [[0, 0, 0], [1, 1, 1], [0, 0, 0]],
    [[0, 1, 0], [0, 1, 0], [0, 1, 0]],
    [[0, 0, 0], [0, 1, 1], [0, 1, 0]],
    [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
    [[0, 0, 0], [1, 1, 0], [1, 1, 0]],
  ],
  np.uint8,
)
_ROW_STEPS = np.array([-1, 1, 0, 0], np.int64)
_COLUMN_STEPS = np.array([0, 0, -1, 1], np.int64)
_HASH_SEED = 1
_NO_BOX = -1

# A step on the path of the reverse play, and what was tried after it.
_STEP = np.dtype(
  [
    ("hash", np.uint64),  # of the board after the step
    ("player", np.int32),  # cell after the step
    ("offset", np.int32),  # change of the player's cell
    ("box", np.int32),  # index of the pulled box, or _NO_BOX
    ("last_box", np.int32),  # the one pulled last so far
    ("changes", np.int32),  # of the pulled box so far
    ("tried", np.int32),  # number of next actions tried
    ("order", np.int32),  # of trying them
  ],
  align=True,
)


class ReverseResult(NamedTuple):
  """The best board that reverse play met."""

  score: int  # 0 if no board had all boxes off the targets
  player: int  # cell
  boxes: np.ndarray  # [N] cells, box i belongs to target i


def make_level(key: int, height: int, width: int, num_boxes: int) -> np.ndarray:
  """The level of a uint64 `key`: [height * width] uint8, solvable and not solved."""
  level = _make_level(np.uint64(key), height, width, num_boxes, MAX_REVERSE_STATES)
  if level[0] != _WALL:
    raise RuntimeError(
      f"found no {height}x{width} room where {num_boxes} boxes can be pulled off their targets; "
      "use a larger board or fewer boxes."
    )
  return level


@njit(cache=True, nogil=True)
def _make_level(key, height, width, num_boxes, max_states):
  """The level of `key`: [H * W] uint8. If there is none, the first cell is not wall."""
  generator = splitmix.start(key)
  hashes = splitmix.random_table(_HASH_SEED, 2, height * width)
  table_size = 1
  while table_size < 2 * max_states:
    table_size *= 2
  seen = np.empty(table_size, np.uint64)
  for _ in range(MAX_ROOMS):
    room = _dig_room(generator, height, width)
    cells = _choose_floor(generator, room, num_boxes + 1)
    if cells.size == 0:
      continue
    targets = cells[1:]
    result = _reverse_play(generator, room, width, cells[0], targets, hashes, seen, max_states)
    if result.score > 0:
      for i in range(num_boxes):
        room[targets[i]] = _TARGET
      for i in range(num_boxes):  # No box is on a target, or the score would be 0.
        room[result.boxes[i]] = _BOX
      on_target = room[result.player] == _TARGET
      room[result.player] = _PLAYER_ON_TARGET if on_target else _PLAYER
      return room
  return np.full(height * width, _FLOOR, np.uint8)


@njit(cache=True, nogil=True)
def _dig_room(generator, height, width):
  """Walks at random and opens a small shape at each step; the border stays: [H * W] uint8."""
  room = np.full((height, width), _WALL, np.uint8)
  row = 1 + splitmix.next_below(generator, height - 2)
  column = 1 + splitmix.next_below(generator, width - 2)
  direction = splitmix.next_below(generator, 4)
  for _ in range(int(WALK_STEPS_PER_SIDE * (height + width))):
    if splitmix.next_below(generator, 100) < TURN_PERCENT:
      direction = splitmix.next_below(generator, 4)
    row = min(max(row + _ROW_STEPS[direction], 1), height - 2)
    column = min(max(column + _COLUMN_STEPS[direction], 1), width - 2)
    shape = _SHAPES[splitmix.next_below(generator, len(_SHAPES))]
    for i in range(3):
      for j in range(3):
        inside = 0 < row + i - 1 < height - 1 and 0 < column + j - 1 < width - 1
        if inside and shape[i, j]:
          room[row + i - 1, column + j - 1] = _FLOOR
  return room.reshape(-1)


@njit(cache=True, nogil=True)
def _choose_floor(generator, room, count):
  """`count` different floor cells, uniformly; none if the room has no cell to spare."""
  floor = np.flatnonzero(room == _FLOOR)
  if floor.size <= count:
    return floor[:0]
  for i in range(count):
    j = i + splitmix.next_below(generator, floor.size - i)
    floor[i], floor[j] = floor[j], floor[i]
  return floor[:count]


@njit(cache=True, nogil=True)
def _is_new(seen, state_hash):
  """Adds a hash to an open-addressing set; 0 marks empty slots."""
  slot = np.int64(state_hash & np.uint64(seen.size - 1))
  while seen[slot] != 0:
    if seen[slot] == state_hash:
      return False
    slot = (slot + 1) & (seen.size - 1)
  seen[slot] = state_hash
  return True


@njit(cache=True, nogil=True)
def _score(changes, boxes, targets, is_target, width):
  """(Changes of the pulled box) * (sum of distances to targets), 0 if a box is on a target."""
  total = 0
  for i in range(boxes.size):
    if is_target[boxes[i]]:
      return 0
    row, column = divmod(boxes[i], width)
    target_row, target_column = divmod(targets[i], width)
    total += abs(row - target_row) + abs(column - target_column)
  return changes * total


@njit(cache=True, nogil=True)
def _take_step(step, before, boxes, box_at, offset, is_pull):
  """Moves the player of `before` by `offset`, with the box behind if `is_pull`, into `step`."""
  step.offset, step.player, step.box, step.tried = offset, before.player + offset, _NO_BOX, 0
  step.last_box, step.changes = before.last_box, before.changes
  if is_pull:
    box = box_at[before.player - offset]
    boxes[box] = before.player
    box_at[before.player], box_at[before.player - offset] = box, _NO_BOX
    step.changes += box != before.last_box
    step.box = step.last_box = box


@njit(cache=True, nogil=True)
def _take_back(step, boxes, box_at):
  """Puts the box that `step` has pulled, if any, back."""
  if step.box != _NO_BOX:
    here = step.player - step.offset
    boxes[step.box] = here - step.offset
    box_at[here - step.offset], box_at[here] = step.box, _NO_BOX


@njit(cache=True, nogil=True)
def _reverse_play(generator, room, width, player, targets, hashes, seen, max_states):
  """Depth-first search over pulls and moves from the solved board, for the board of best score.

  Args:
    generator: source of the random order in which actions are tried.
    room: [S] uint8 of walls and floor.
    width: of the room.
    player: cell of the player.
    targets: [N] cells of the targets, where the boxes start.
    hashes: [2, S] uint64 random numbers of a player and of a box on each cell.
    seen: scratch set, uint64, its size a power of two above max_states.
    max_states: number of boards to look at.

  Returns:
    ReverseResult.
  """
  offsets = (-width, width, -1, 1)
  boxes, box_at = targets.copy(), np.full(room.size, _NO_BOX, np.int64)
  is_target = np.zeros(room.size, np.bool_)
  path = np.empty(MAX_DEPTH + 1, _STEP)
  root = path[0]
  root.hash, root.player, root.offset, root.tried = hashes[0, player], player, 0, 0
  root.order = splitmix.next_below(generator, 32)
  root.box, root.last_box, root.changes = _NO_BOX, _NO_BOX, 0
  for i in range(boxes.size):
    box_at[boxes[i]] = i
    is_target[boxes[i]] = True
    root.hash ^= hashes[1, boxes[i]]
  seen[:] = 0
  _is_new(seen, root.hash)

  best = ReverseResult(0, player, boxes.copy())
  depth, num_seen = 0, 1
  while depth >= 0 and num_seen < max_states:
    last = path[depth]
    if last.tried == 8 or depth == MAX_DEPTH:
      _take_back(last, boxes, box_at)
      depth -= 1
      continue
    # Any odd stride visits all eight actions, pull or move in each direction.
    action = (last.order + last.tried * (2 * (last.order >> 3) + 1)) & 7
    last.tried += 1
    offset, is_pull = offsets[action >> 1], action & 1
    ahead, behind = last.player + offset, last.player - offset
    if room[ahead] == _WALL or box_at[ahead] != _NO_BOX or (is_pull and box_at[behind] == _NO_BOX):
      continue
    next_hash = last.hash ^ hashes[0, last.player] ^ hashes[0, ahead]
    if is_pull:
      next_hash ^= hashes[1, behind] ^ hashes[1, last.player]
    if not _is_new(seen, next_hash):
      continue
    num_seen += 1
    depth += 1
    step = path[depth]
    step.hash, step.order = next_hash, splitmix.next_below(generator, 32)
    _take_step(step, last, boxes, box_at, offset, is_pull)
    score = _score(step.changes, boxes, targets, is_target, width)
    if score > best.score:
      best = ReverseResult(score, np.int64(step.player), boxes.copy())
  return best
