"""Lights Out: pressing a light toggles it and its neighbours; the goal is all lights off."""

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base, counter_random, gf2, grid

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes


class LightsOut(base.Puzzle):
  """Lights Out on a board of any size; a cell holds 1 where the light is on.

  Args:
    height, width: rows and columns of the board.
    trajectory_moves: random presses of a training trajectory (the paper's 49 for 7x7).
    allow_repeats: whether a trajectory may press a light twice (the paper's may), which takes the
      first press back. Without, all steps that are left are needed, unless other presses do the
      same (boards such as 5x5 have several solutions).
  """

  name = "lights_out"
  num_values = 2

  def __init__(
    self,
    height: int = 7,
    width: int = 7,
    trajectory_moves: int = 49,
    allow_repeats: bool = True,
  ):
    for name, value in (
      ("height", height),
      ("width", width),
      ("trajectory_moves", trajectory_moves),
    ):
      if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value}.")
    if not allow_repeats and trajectory_moves > height * width:
      raise ValueError(
        f"trajectory_moves must be at most the number of lights, {height * width}, where no light "
        f"is pressed twice; got {trajectory_moves}."
      )
    self.board_shape = (height, width)
    self.state_size = height * width
    self.action_names = tuple(f"{r},{c}" for r in range(height) for c in range(width))
    self.inverse_actions = np.arange(self.state_size, dtype=np.int32)  # pressing twice is nothing
    self.trajectory_moves = trajectory_moves
    self.allow_repeats = allow_repeats
    self.max_trajectory_states = trajectory_moves + 1
    self._presses = _press_patterns(height, width)

  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    return tf.bitwise.bitwise_xor(states, tf.gather(tf.constant(self._presses), actions))

  def children(self, states: tf.Tensor) -> base.Children:
    children = tf.bitwise.bitwise_xor(states[:, None, :], tf.constant(self._presses)[None])
    return base.Children(children, tf.ones(tf.shape(children)[:2], tf.bool))

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(states == 0, axis=-1)

  def goal(self, states: tf.Tensor) -> tf.Tensor:
    return tf.zeros_like(states)

  def symmetries(self) -> base.Symmetries:
    return base.Symmetries(grid.board_symmetries(*self.board_shape))

  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    """Uniform over the solvable boards but the solved one: a random subset of lights is pressed."""
    keys = counter_random.episode_keys("lights_out/instances", seed, episodes)
    cells = tf.range(self.state_size, dtype=tf.int64)

    def press(attempt: tf.Tensor) -> tf.Tensor:
      draws = attempt * self.state_size + cells
      pressed = counter_random.integers(keys[:, None], draws[None, :], 2)
      toggles = tf.matmul(tf.cast(pressed, tf.float32), tf.constant(self._presses, tf.float32))
      return tf.cast(tf.cast(toggles, tf.int32) % 2, tf.uint8)

    # Boards that come out solved are drawn again; on a 7x7 board that does not happen in practice.
    def redraw(attempt: tf.Tensor, states: tf.Tensor):
      return attempt + 1, tf.where(self.is_solved(states)[:, None], press(attempt), states)

    start = (tf.constant(1, tf.int64), press(tf.constant(0, tf.int64)))
    return tf.while_loop(lambda _, states: tf.reduce_any(self.is_solved(states)), redraw, start)[1]

  def trajectories(self, seed: int, episodes: tf.Tensor) -> base.Trajectories:
    keys = counter_random.episode_keys("lights_out/trajectories", seed, episodes)
    # The presses in forward order. All of them together lead from the first state to the goal, so
    # a state is the sum of the presses still to come. (XLA has no cumulative sum of uint8.)
    actions = self._random_presses(keys)
    toggles = tf.gather(tf.constant(self._presses, tf.int32), actions)  # [B, M, S]
    to_come = tf.cast(tf.cumsum(toggles, axis=1, reverse=True) % 2, tf.uint8)
    goal = tf.zeros_like(to_come[:, :1])
    lengths = tf.fill(tf.shape(keys), self.max_trajectory_states)
    return base.Trajectories(tf.concat([to_come, goal], axis=1), actions, lengths)

  def _random_presses(self, keys: tf.Tensor) -> tf.Tensor:
    """[B] keys -> [B, M] int32 presses of a trajectory."""
    if not self.allow_repeats:
      return counter_random.permutations(keys, self.num_actions)[:, : self.trajectory_moves]
    draws = tf.range(self.trajectory_moves, dtype=tf.int64)
    return counter_random.integers(keys[:, None], draws[None, :], self.num_actions)

  def optimal_presses(self, state: np.ndarray) -> np.ndarray | None:
    """The smallest set of presses that solves [S] lights, as a [S] 0/1 mask; None if none does."""
    return gf2.lightest_solution(self._presses.T, state)

  def parse_instance(self, text: str) -> np.ndarray:
    height, width = self.board_shape
    rows = text.split("/")
    if len(rows) != height:
      raise base.InstanceError(
        f"a {height}x{width} board has {height} rows joined by /; got {len(rows)}."
      )
    for number, row in enumerate(rows, start=1):
      unknown = sorted(set(row) - {"0", "1"})
      if unknown:
        raise base.InstanceError(f"unknown symbol {unknown[0]!r} in row {number}; expected 0 or 1.")
      if len(row) != width:
        raise base.InstanceError(f"row {number} must have {width} lights; got {len(row)}.")
    state = np.array([int(light) for light in "".join(rows)], np.uint8)
    if self.optimal_presses(state) is None:
      raise base.InstanceError(
        f"unsolvable: no set of presses turns this {height}x{width} board off."
      )
    return state

  def format_instance(self, state: np.ndarray) -> str:
    rows = np.reshape(state, self.board_shape)
    return "/".join("".join(str(light) for light in row) for row in rows)

  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    height, width = self.board_shape
    ax.imshow(np.reshape(state, self.board_shape), cmap="cividis", vmin=0, vmax=1)
    ax.set_xticks(np.arange(-0.5, width), [])
    ax.set_yticks(np.arange(-0.5, height), [])
    ax.grid(color="white", linewidth=1)
    ax.tick_params(length=0)


def _press_patterns(height: int, width: int) -> np.ndarray:
  """[A, S] uint8: the lights that each press toggles."""
  size = height * width
  patterns = np.eye(size, dtype=np.uint8)
  cells, directions = np.nonzero(grid.neighbours(height, width) != grid.OFF_BOARD)
  patterns[cells, grid.neighbours(height, width)[cells, directions]] = 1
  return patterns
