"""Levels in XSB text and plans in LURD, the notations of the Sokoban community.

XSB draws a level with `#` wall, `@` player, `+` player on a target, `$` box, `*` box on a target,
`.` target, and a blank, `-` or `_` for the floor. Boards here are [height, width] uint8 of `Cell`.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from crtr_tf.puzzles import grid
from crtr_tf.puzzles.base import InstanceError
from crtr_tf.puzzles.sokoban.cells import MIN_SIDE, Cell

_SYMBOLS = {
  Cell.WALL: "#",
  Cell.FLOOR: " ",
  Cell.TARGET: ".",
  Cell.BOX_ON_TARGET: "*",
  Cell.BOX: "$",
  Cell.PLAYER: "@",
  Cell.PLAYER_ON_TARGET: "+",
}
_CELLS = {symbol: cell for cell, symbol in _SYMBOLS.items()} | {"-": Cell.FLOOR, "_": Cell.FLOOR}
_MOVES = tuple(name.lower() for name in grid.DIRECTION_NAMES)
_BOXES = (Cell.BOX, Cell.BOX_ON_TARGET)
_TARGETS = (Cell.TARGET, Cell.BOX_ON_TARGET, Cell.PLAYER_ON_TARGET)
_PLAYERS = (Cell.PLAYER, Cell.PLAYER_ON_TARGET)


def iterate_levels(lines: Iterable[str]) -> Iterator[str]:
  """Cuts a file at blank lines and at `;` headers, which are left out."""
  level: list[str] = []
  for line in lines:
    if line.strip() and not line.lstrip().startswith(";"):
      level.append(line.rstrip())
    elif level:
      yield "\n".join(level)
      level = []
  if level:
    yield "\n".join(level)


def split_levels(text: str) -> list[str]:
  """All levels of a text."""
  return list(iterate_levels(text.splitlines()))


def level_size(text: str) -> tuple[int, int]:
  """Height and width of the smallest board that has room for every level of a text.

  Symbols that mean nothing count as cells: what is wrong with a level is said when it is parsed.
  """
  levels = split_levels(text)
  if not levels:
    raise InstanceError("no sokoban instance found: the input is empty.")
  symbols = [_read_symbols(level) for level in levels]
  height, width = np.max([one[_extent(one)].shape for one in symbols], axis=0)
  return max(int(height), MIN_SIDE), max(int(width), MIN_SIDE)


def parse_level(text: str, height: int, width: int) -> np.ndarray:
  """One level, centred on a board of walls: [height * width] uint8.

  Floor outside the walls becomes wall.

  Raises:
    InstanceError: with the reason why the text is no level.
  """
  levels = split_levels(text)
  if len(levels) != 1:
    raise InstanceError(f"expected one level; got {len(levels)}.")
  symbols = _read_symbols(levels[0])
  for (row, column), symbol in np.ndenumerate(symbols):
    if symbol not in _CELLS:
      raise InstanceError(
        f"unknown symbol {str(symbol)!r} in row {row + 1}, column {column + 1}; "
        "expected # @ + $ * . or a blank, - or _ for the floor."
      )
  board = np.vectorize(_CELLS.__getitem__, otypes=[np.uint8])(symbols)
  _check_counts(board)
  level = _fill_outside(board)[_extent(symbols)]
  rows, columns = level.shape
  if rows > height or columns > width:
    raise InstanceError(
      f"the level is too large: {rows}x{columns} (rows x columns), the board is {height}x{width}."
    )
  full = np.full((height, width), Cell.WALL, np.uint8)
  top, left = (height - rows) // 2, (width - columns) // 2
  full[top : top + rows, left : left + columns] = level
  return full.reshape(-1)


def format_level(board: np.ndarray) -> str:
  """The inverse of `parse_level`: [height, width] -> lines of equal length."""
  return "\n".join("".join(_SYMBOLS[Cell(cell)] for cell in row) for row in board)


def format_plan(board: np.ndarray, actions: Sequence[int]) -> str:
  """Spells actions from a board in LURD: upper case where a box is pushed.

  A step that is not possible leaves everything in place and is spelled as a move.
  """
  free = board != Cell.WALL
  boxes = {tuple(cell) for cell in np.argwhere(np.isin(board, _BOXES))}
  plan = [_MOVES[action] for action in actions]
  for player in np.argwhere(np.isin(board, _PLAYERS)):  # one, or none in a goal state
    for position, action in enumerate(actions):
      step = grid.DIRECTION_STEPS[action]
      ahead, beyond = tuple(player + step), tuple(player + 2 * step)
      if ahead in boxes and free[beyond] and beyond not in boxes:
        boxes.remove(ahead)
        boxes.add(beyond)
        plan[position] = plan[position].upper()
      if free[ahead] and ahead not in boxes:
        player += step
  return "".join(plan)


def parse_plan(text: str) -> list[int]:
  """Reads LURD in either case, blanks ignored. Raises InstanceError at the first other letter."""
  plan = []
  for position, letter in enumerate("".join(text.split()), start=1):
    if letter.lower() not in _MOVES:
      raise InstanceError(
        f"unknown sokoban move {letter!r} at position {position}; expected l, u, r, d, L, U, R, D."
      )
    plan.append(_MOVES.index(letter.lower()))
  return plan


def _read_symbols(level: str) -> np.ndarray:
  """The characters of a level as a rectangle, short lines filled up with blanks: [H, W] str."""
  lines = level.splitlines()
  width = max(len(line) for line in lines)
  return np.array([list(line.ljust(width)) for line in lines])


def _extent(symbols: np.ndarray) -> tuple[slice, slice]:
  """The rows and columns of [H, W] symbols that are left without an empty margin."""
  floor = [symbol for symbol, cell in _CELLS.items() if cell == Cell.FLOOR]
  filled = np.argwhere(~np.isin(symbols, floor))
  if not filled.size:
    return slice(None), slice(None)
  (top, left), (bottom, right) = filled.min(axis=0), filled.max(axis=0)
  return slice(top, bottom + 1), slice(left, right + 1)


def _check_counts(board: np.ndarray) -> None:
  players, boxes, targets = (
    int(np.isin(board, kinds).sum()) for kinds in (_PLAYERS, _BOXES, _TARGETS)
  )
  if players == 0:
    raise InstanceError("the level has no player.")
  if players > 1:
    raise InstanceError(f"the level has {players} players; expected one.")
  if boxes == 0:
    raise InstanceError("the level has no boxes.")
  if boxes > targets:
    raise InstanceError(f"the level has more boxes than targets: {boxes} and {targets}.")
  if boxes < targets:
    raise InstanceError(
      f"the level has fewer boxes than targets: {boxes} and {targets}; "
      "which targets to cover would be open."
    )


def _fill_outside(board: np.ndarray) -> np.ndarray:
  """Turns floor from where one can walk off the board into wall; nothing else may be there."""
  outside = np.pad(np.zeros(board.shape, bool), 1, constant_values=True)
  open_cells = np.pad(board != Cell.WALL, 1, constant_values=True)
  while True:
    grown = outside.copy()
    for axis in (0, 1):
      for shift in (-1, 1):
        grown |= np.roll(outside, shift, axis)
    grown &= open_cells
    if (grown == outside).all():
      break
    outside = grown
  outside = outside[1:-1, 1:-1]
  if np.isin(board[outside], _PLAYERS).any():
    raise InstanceError("the border is open: the player could walk off the board.")
  for row, column in np.argwhere(outside & (board != Cell.FLOOR)):
    kind = "target" if board[row, column] == Cell.TARGET else "box"
    raise InstanceError(f"the {kind} in row {row + 1}, column {column + 1} is outside the walls.")
  return np.where(outside, Cell.WALL, board).astype(np.uint8)
