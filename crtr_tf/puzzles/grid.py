"""Moves on a board of rows and columns, shared by the puzzles where something steps on a grid.

Cells are numbered row by row. The four directions are, everywhere and in this order, U D L R.
"""

import numpy as np

DIRECTION_NAMES = ("U", "D", "L", "R")
DIRECTION_STEPS = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)], np.int32)  # [4, (row, column)]
OPPOSITE_DIRECTION = np.array([1, 0, 3, 2], np.int32)
OFF_BOARD = -1


def neighbours(height: int, width: int, distance: int = 1) -> np.ndarray:
  """The cell `distance` steps from each cell in each direction: [H * W, 4], else OFF_BOARD."""
  rows, columns = np.divmod(np.arange(height * width, dtype=np.int32), width)
  to_rows = rows[:, None] + distance * DIRECTION_STEPS[None, :, 0]
  to_columns = columns[:, None] + distance * DIRECTION_STEPS[None, :, 1]
  inside = (to_rows >= 0) & (to_rows < height) & (to_columns >= 0) & (to_columns < width)
  return np.where(inside, to_rows * width + to_columns, OFF_BOARD).astype(np.int32)


def transposition(size: int) -> np.ndarray:
  """[2, size * size] int32: the cells of a square board as they are, and mirrored at its diagonal.

  The corners at the top left and bottom right stay where they are.
  """
  cells = np.arange(size * size, dtype=np.int32)
  return np.stack([cells, cells.reshape(size, size).T.ravel()])


def board_symmetries(height: int, width: int) -> np.ndarray:
  """[K, H * W] int32: the cells under all turns and mirror images that keep the board's shape.

  8 for a square, 4 for others; the identity comes first.
  """
  board = np.arange(height * width, dtype=np.int32).reshape(height, width)
  turns = [np.rot90(board, k) for k in range(4) if height == width or k % 2 == 0]
  return np.stack([image.ravel() for turn in turns for image in (turn, np.fliplr(turn))])
