"""A picture of a Sokoban board."""

import numpy as np
from matplotlib import axes as mpl_axes
from matplotlib import colors, patches

from crtr_tf.puzzles.sokoban.cells import Cell

_WALL, _FLOOR = "#5b6573", "#f4efe6"
_TARGET = "#c0392b"
_BOX, _BOX_ON_TARGET, _BOX_EDGE = "#d9a04e", "#58a55c", "#3b2f1e"
_PLAYER, _PLAYER_EDGE = "#2f6fbb", "#16324f"


def draw_board(board: np.ndarray, ax: mpl_axes.Axes) -> None:
  """Draws [height, width] cells; a box on a target is green and keeps the target's mark."""
  height, width = board.shape
  ground = colors.ListedColormap([_WALL, _FLOOR])
  ax.imshow(board != Cell.WALL, cmap=ground, vmin=0, vmax=1, extent=(0, width, height, 0))
  for (row, column), cell in np.ndenumerate(board):
    centre = (column + 0.5, row + 0.5)
    if cell in (Cell.BOX, Cell.BOX_ON_TARGET):
      colour = _BOX if cell == Cell.BOX else _BOX_ON_TARGET
      ax.add_patch(
        patches.Rectangle(
          (column + 0.1, row + 0.1), 0.8, 0.8, facecolor=colour, edgecolor=_BOX_EDGE, lw=0.7
        )
      )
    if cell in (Cell.PLAYER, Cell.PLAYER_ON_TARGET):
      ax.add_patch(patches.Circle(centre, 0.38, facecolor=_PLAYER, edgecolor=_PLAYER_EDGE, lw=0.7))
    if cell in (Cell.TARGET, Cell.BOX_ON_TARGET, Cell.PLAYER_ON_TARGET):
      ax.add_patch(patches.Circle(centre, 0.17, facecolor=_TARGET, edgecolor="white", lw=0.5))
  ax.axis("off")
