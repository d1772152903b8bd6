"""Sokoban: a player pushes boxes onto targets.

Axes: B states, A = 4 actions, S = height * width cells. The border of every board is wall, so the
player is never there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base, counter_random, grid
from crtr_tf.puzzles.sokoban import text as xsb
from crtr_tf.puzzles.sokoban.cells import MAX_SIDE, MIN_SIDE, Cell

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes

MAX_GENERATED_BOXES = 8
MIN_CELLS_PER_BOX = 4  # inside the border; with fewer, most rooms leave no way to pull the boxes

_NOWHERE = -1  # a cell that no index equals


class _Writes(NamedTuple):
  """The at most three cells that an action changes, [B, A] each; _NOWHERE if it does not."""

  player: tf.Tensor  # int32, the cell the player leaves
  player_value: tf.Tensor  # uint8, what is there afterwards
  ahead: tf.Tensor  # int32, the cell the player goes to
  ahead_value: tf.Tensor  # uint8
  beyond: tf.Tensor  # int32, the cell a box is pushed to
  beyond_value: tf.Tensor  # uint8


class Sokoban(base.Puzzle):
  """Sokoban; see `cells.Cell` for the codes of a state.

  The goal state has no player, and so has the last state of every trajectory: where the player
  ends up is of no interest. From a state without a player no action is possible.

  Args:
    height, width: rows and columns of the board, the border included; smaller levels are centred.
    num_boxes: of generated levels; levels given as text may have any number.
    max_trajectory_states: levels with a longer solution are left out of the trajectories.
  """

  name = "sokoban"
  num_values = len(Cell)
  action_names = grid.DIRECTION_NAMES

  def __init__(
    self,
    height: int = 12,
    width: int = 12,
    num_boxes: int = 4,
    max_trajectory_states: int = 150,
  ) -> None:
    _check_arguments(height, width, num_boxes, max_trajectory_states)
    self.board_shape = (height, width)
    self.state_size = height * width
    self.num_boxes = num_boxes
    self.max_trajectory_states = max_trajectory_states
    self._ahead = grid.neighbours(height, width)
    self._beyond = grid.neighbours(height, width, distance=2)

  # Rules.

  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    writes, valid = self._moves(states)
    known = (actions >= 0) & (actions < self.num_actions)
    safe = tf.where(known, actions, 0)
    chosen = _Writes(*(tf.gather(part, safe, batch_dims=1)[:, None] for part in writes))
    possible = known & tf.gather(valid, safe, batch_dims=1)
    return tf.where(possible[:, None], self._write(states, chosen)[:, 0], states)

  def children(self, states: tf.Tensor) -> base.Children:
    writes, valid = self._moves(states)
    return base.Children(self._write(states, writes), valid)

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    box_is_home = tf.reduce_any(states == Cell.BOX_ON_TARGET, axis=-1)
    return box_is_home & ~tf.reduce_any(states == Cell.BOX, axis=-1)

  def goal(self, states: tf.Tensor) -> tf.Tensor:
    """All targets covered, no player."""
    inside = tf.where(_is_target(states), _value(Cell.BOX_ON_TARGET), _value(Cell.FLOOR))
    return tf.where(states == Cell.WALL, _value(Cell.WALL), inside)

  def _moves(self, states: tf.Tensor) -> tuple[_Writes, tf.Tensor]:
    """What each action would write, and whether it is possible: [B, S] -> _Writes, [B, A] bool."""
    cells = tf.range(self.state_size)
    player = tf.reduce_max(tf.where(states >= Cell.PLAYER, cells, _NOWHERE), axis=-1)[:, None]
    has_player = player != _NOWHERE
    at_player = tf.maximum(player, 0)  # an index even without a player
    ahead = tf.gather(self._ahead, at_player[:, 0])  # [B, A]
    beyond = tf.gather(self._beyond, at_player[:, 0])
    player_value = tf.gather(states, at_player, batch_dims=1)
    ahead_value, beyond_value = _read(states, ahead), _read(states, beyond)

    is_box = (ahead_value == Cell.BOX) | (ahead_value == Cell.BOX_ON_TARGET)
    pushes = has_player & is_box & _is_free(beyond_value)
    valid = pushes | (has_player & _is_free(ahead_value))
    writes = _Writes(
      tf.where(valid, player, _NOWHERE),
      tf.repeat(_on(player_value, Cell.TARGET, Cell.FLOOR), self.num_actions, axis=1),
      tf.where(valid, ahead, _NOWHERE),
      _on(ahead_value, Cell.PLAYER_ON_TARGET, Cell.PLAYER),
      tf.where(pushes, beyond, _NOWHERE),
      _on(beyond_value, Cell.BOX_ON_TARGET, Cell.BOX),
    )
    return writes, valid

  def _write(self, states: tf.Tensor, writes: _Writes) -> tf.Tensor:
    """[B, S] states and K writes to each, [B, K] -> [B, K, S] uint8."""
    # Comparing all cells with the position fuses to one pass under XLA; a scatter does not.
    cells = tf.range(self.state_size)
    written = states[:, None, :]
    for cell, value in zip(writes[::2], writes[1::2], strict=True):
      written = tf.where(cells == cell[..., None], value[..., None], written)
    return written

  def symmetries(self) -> base.Symmetries:
    return base.Symmetries(grid.board_symmetries(*self.board_shape))

  # Generators. They run on the host, also in graphs; XLA cannot compile them.

  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    """Levels of `rooms`: solvable because the boxes were pulled away from their targets."""
    keys = counter_random.episode_keys("sokoban/instances", seed, episodes)
    levels = tf.numpy_function(self._make_levels, [keys], tf.uint8, stateful=False)
    return tf.ensure_shape(levels, [keys.shape[0], self.state_size])

  def trajectories(self, seed: int, episodes: tf.Tensor) -> base.Trajectories:
    """Solutions of the `expert`: successful, but not the shortest."""
    keys = counter_random.episode_keys("sokoban/trajectories", seed, episodes)
    states, actions, lengths = tf.numpy_function(
      self._make_trajectories, [keys], (tf.uint8, tf.int32, tf.int32), stateful=False
    )
    batch, time = keys.shape[0], self.max_trajectory_states
    return base.Trajectories(
      tf.ensure_shape(states, [batch, time, self.state_size]),
      tf.ensure_shape(actions, [batch, time - 1]),
      tf.ensure_shape(lengths, [batch]),
    )

  def _make_levels(self, keys: np.ndarray) -> np.ndarray:
    # Numba loads slowly and only the generators need it.
    from crtr_tf.puzzles.sokoban import rooms

    levels = [rooms.make_level(key, *self.board_shape, self.num_boxes) for key in keys]
    return np.reshape(levels, [-1, self.state_size]).astype(np.uint8)

  def _make_trajectories(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from crtr_tf.puzzles.sokoban import expert

    made = expert.make_trajectories(
      keys, *self.board_shape, self.num_boxes, self.max_trajectory_states
    )
    return made.states, made.actions, made.lengths

  # Text and drawing.

  def parse_instance(self, text: str) -> np.ndarray:
    return xsb.parse_level(text, *self.board_shape)

  def format_instance(self, state: np.ndarray) -> str:
    return xsb.format_level(np.reshape(state, self.board_shape))

  def iterate_instances(self, lines: Iterable[str]) -> Iterator[str]:
    """Levels are separated by blank lines or `;` headers."""
    return xsb.iterate_levels(lines)

  def format_plan(self, start: np.ndarray, actions: Sequence[int]) -> str:
    """LURD: lower case letters are moves, upper case ones pushes."""
    return xsb.format_plan(np.reshape(start, self.board_shape), actions)

  def parse_plan(self, text: str) -> list[int]:
    """Reads LURD; whether a step pushes is decided by the level, so either case will do."""
    return xsb.parse_plan(text)

  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    from crtr_tf.puzzles.sokoban import drawing

    drawing.draw_board(np.reshape(state, self.board_shape), ax)


def _check_arguments(height: int, width: int, num_boxes: int, max_trajectory_states: int) -> None:
  for name, side in (("height", height), ("width", width)):
    if not MIN_SIDE <= side <= MAX_SIDE:
      raise ValueError(f"{name} must be {MIN_SIDE} to {MAX_SIDE}; got {side}.")
  if not 1 <= num_boxes <= MAX_GENERATED_BOXES:
    raise ValueError(f"num_boxes must be 1 to {MAX_GENERATED_BOXES}; got {num_boxes}.")
  inside = (height - 2) * (width - 2)
  if inside < MIN_CELLS_PER_BOX * num_boxes:
    raise ValueError(
      f"num_boxes must be at most one for every {MIN_CELLS_PER_BOX} cells inside the border; "
      f"got {num_boxes} on a {height}x{width} board with {inside}."
    )
  if max_trajectory_states < 2:
    raise ValueError(f"max_trajectory_states must be at least 2; got {max_trajectory_states}.")


def _value(cell: Cell) -> tf.Tensor:
  return tf.constant(cell, tf.uint8)


def _read(states: tf.Tensor, cells: tf.Tensor) -> tf.Tensor:
  """The values [B, A] of the cells [B, A] int32; walls off the board."""
  values = tf.gather(states, tf.maximum(cells, 0), batch_dims=1)
  return tf.where(cells == grid.OFF_BOARD, _value(Cell.WALL), values)


def _is_target(values: tf.Tensor) -> tf.Tensor:
  covered = (values == Cell.BOX_ON_TARGET) | (values == Cell.PLAYER_ON_TARGET)
  return covered | (values == Cell.TARGET)


def _is_free(values: tf.Tensor) -> tf.Tensor:
  return (values == Cell.FLOOR) | (values == Cell.TARGET)


def _on(values: tf.Tensor, on_target: Cell, on_floor: Cell) -> tf.Tensor:
  """What a cell becomes when its content is replaced: `on_target` if it is a target."""
  return tf.where(_is_target(values), _value(on_target), _value(on_floor))
