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
