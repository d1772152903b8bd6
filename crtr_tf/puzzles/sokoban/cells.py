"""What a cell of a Sokoban board holds, and how large boards may be."""

import enum

MIN_SIDE, MAX_SIDE = 6, 64  # height and width of a board, the border included


class Cell(enum.IntEnum):
  """The codes of a state's cells, the same as in public Sokoban data."""

  WALL = 0
  FLOOR = 1
  TARGET = 2
  BOX_ON_TARGET = 3
  BOX = 4
  PLAYER = 5
  PLAYER_ON_TARGET = 6
