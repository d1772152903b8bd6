"""Pictures of whole solutions, for any puzzle."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import figure

from crtr_tf.puzzles import base

_COLUMNS = 6
_PANEL_INCHES = 2.0


def draw_solution(
  puzzle: base.Puzzle, states: np.ndarray, actions: Sequence[int], max_panels: int = 24
) -> figure.Figure:
  """Draws the states of a plan one after the other, each under the move that led to it.

  Args:
    puzzle: the puzzle.
    states: [T, S] uint8, from the instance to the solved state.
    actions: the T - 1 actions between them.
    max_panels: longer plans show this many states, evenly spaced, first and last included.

  Returns:
    A figure to be saved with `savefig`.
  """
  if len(states) != len(actions) + 1:
    raise ValueError(
      f"{len(actions)} actions lead through {len(actions) + 1} states; got {len(states)}."
    )
  shown = _evenly_spaced(len(states), max_panels)
  columns = min(_COLUMNS, len(shown))
  rows = math.ceil(len(shown) / columns)
  fig = figure.Figure(
    figsize=(columns * _PANEL_INCHES, rows * (_PANEL_INCHES + 0.3)), layout="constrained"
  )
  axes = np.ravel(fig.subplots(rows, columns, squeeze=False))
  for ax, step in zip(axes, shown, strict=False):
    puzzle.draw(states[step], ax)
    move = f"{step}: {puzzle.action_names[actions[step - 1]]}" if step else "start"
    ax.set_title(move, fontsize=9)
  for ax in axes[len(shown) :]:
    ax.axis("off")
  return fig


def draw_strips(
  solutions: Sequence[tuple[str, base.Puzzle, np.ndarray]], num_panels: int = 6
) -> figure.Figure:
  """Draws several solutions, of different puzzles as it may be, one below the other.

  Args:
    solutions: for each a name, the puzzle and its states [T, S] uint8.
    num_panels: states that are shown of each, evenly spaced, first and last included.

  Returns:
    A figure to be saved with `savefig`.
  """
  size = (num_panels * _PANEL_INCHES, len(solutions) * (_PANEL_INCHES + 0.3))
  fig = figure.Figure(figsize=size, layout="constrained")
  axes = fig.subplots(len(solutions), num_panels, squeeze=False)
  for row, (name, puzzle, states) in zip(axes, solutions, strict=True):
    shown = _evenly_spaced(len(states), num_panels)
    for ax, step in zip(row, shown, strict=False):
      puzzle.draw(states[step], ax)
      ax.set_title(f"move {step}" if step else name, fontsize=9)
    for ax in row[len(shown) :]:
      ax.axis("off")
  return fig


def _evenly_spaced(length: int, most: int) -> np.ndarray:
  """At most so many of the numbers below `length`, the first and the last among them."""
  return np.unique(np.linspace(0, length - 1, min(most, length)).round().astype(int))
