"""The cube as an unfolded net."""

import numpy as np
from matplotlib import axes as mpl_axes
from matplotlib import patches

from crtr_tf.puzzles.rubiks_cube import geometry

_COLOURS = dict(
  zip(
    geometry.FACES, ["#f7f7f7", "#c62828", "#2e7d32", "#fdd835", "#ef6c00", "#1565c0"], strict=True
  )
)
# Where each face stands in the net, counted in faces from the top left corner.
_NET = {"U": (0, 1), "L": (1, 0), "F": (1, 1), "R": (1, 2), "B": (1, 3), "D": (2, 1)}


def draw_net(state: np.ndarray, ax: mpl_axes.Axes) -> None:
  """Draws [54] colours as a net; white up, green front."""
  for face_number, face in enumerate(geometry.FACES):
    net_row, net_column = _NET[face]
    for sticker in range(9):
      row, column = 3 * net_row + sticker // 3, 3 * net_column + sticker % 3
      colour = _COLOURS[geometry.FACES[state[9 * face_number + sticker]]]
      ax.add_patch(
        patches.Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="black", lw=0.6)
      )
  ax.set_xlim(-0.1, 12.1)
  ax.set_ylim(9.1, -0.1)
  ax.set_aspect("equal")
  ax.axis("off")
