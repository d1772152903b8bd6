"""Digit Jumper: from a cell with digit d the player jumps exactly d cells up, down, left or right.

The player starts in the top left cell and wants to get to the bottom right one; a jump that would
leave the board is not possible. Axes: B boards, A actions, N = H * W cells (S of the interface),
T states of a trajectory. Throughout, digits are stored as digit - 1, and a jump is the number
(digit - 1) * A + direction.
"""

import re
import reprlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base, counter_random, grid

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes

DIGITS = "123456"
MAX_DIGIT = len(DIGITS)
PLAYER = MAX_DIGIT  # what the player adds to the value of the cell below
START = 0
UNREACHABLE = -1  # distance of a cell from which no jumps lead to the target

_NUM_DIRECTIONS = len(grid.DIRECTION_NAMES)
_NUM_JUMPS = MAX_DIGIT * _NUM_DIRECTIONS
_FILL_DRAW = 0  # The key of the digits off the path, ...
_FIRST_PATH_DRAW = 1  # ... and from here on those of the attempts at a path.


class DigitJumper(base.Puzzle):
  """Jump from the top left to the bottom right.

  A board is made around a random path, so it is always solvable: the loop-erased random walk that
  jumps, at every step, to a random place within reach of one of the digits. All other cells get
  random digits.

  Args:
    height: rows of the board, at least 2.
    width: columns of the board, at least 2.
    max_trajectory_states: boards with a longer path are drawn anew; the default leaves out about
      one path in 10^5 and is three times the mean length. Values for which most paths would be too
      long are refused.
  """

  name = "digit_jumper"
  num_values = 2 * MAX_DIGIT
  action_names = grid.DIRECTION_NAMES

  def __init__(
    self, height: int = 20, width: int = 20, max_trajectory_states: int | None = None
  ) -> None:
    if min(height, width) < 2:
      raise ValueError(f"height and width must be at least 2; got {height} and {width}.")
    if max_trajectory_states is None:
      max_trajectory_states = min(5 * (height + width) // 2, height * width)
    if max_trajectory_states < min(height + width, height * width):
      raise ValueError(
        f"max_trajectory_states must be at least height + width = {height + width}; "
        f"got {max_trajectory_states}."
      )
    self.height, self.width = height, width
    self.board_shape = (height, width)
    self.state_size = height * width
    self.max_trajectory_states = max_trajectory_states
    self._target = self.state_size - 1
    # A jump that is not possible "lands" where it starts, so that no rule needs a mask.
    own_cells = np.arange(self.state_size, dtype=np.int32)[:, None]
    by_digit = [grid.neighbours(height, width, digit) for digit in range(1, MAX_DIGIT + 1)]
    landings = np.stack(by_digit, axis=1).reshape(-1, _NUM_JUMPS)  # [N, jumps]
    possible = landings != grid.OFF_BOARD
    self._landings = np.where(possible, landings, own_cells)
    self._jumps = np.argsort(~possible, axis=1, kind="stable").astype(np.int32)  # possible first
    self._jump_counts = possible.sum(axis=1, dtype=np.int32)

  # Rules.

  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    targets = tf.gather(self._targets(states), actions, batch_dims=1)
    return self._place(_digits(states), targets)

  def children(self, states: tf.Tensor) -> base.Children:
    targets = self._targets(states)
    boards = self._place(_digits(states)[:, None], targets)
    return base.Children(boards, targets != self.players(states)[:, None])

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    return tf.greater_equal(states[:, self._target], PLAYER)

  def goal(self, states: tf.Tensor) -> tf.Tensor:
    return self._place(_digits(states), self._target)

  def players(self, states: tf.Tensor) -> tf.Tensor:
    """The cell of the player: [B, N] -> [B] int32."""
    return tf.reduce_sum(tf.where(states >= PLAYER, tf.range(self.state_size), 0), axis=-1)

  def _targets(self, states: tf.Tensor) -> tf.Tensor:
    """Where the player's four jumps land: [B, N] -> [B, A] int32."""
    # The player's cell has the largest value of all.
    digits = tf.cast(tf.reduce_max(states, axis=-1), tf.int32) - PLAYER
    by_digit = self._landings.reshape(-1, _NUM_DIRECTIONS)  # [N * digits, A]
    return tf.gather(by_digit, self.players(states) * MAX_DIGIT + digits)

  def _place(self, digits: tf.Tensor, cells: int | tf.Tensor) -> tf.Tensor:
    """Puts the player on boards of digits [..., N] at cells [...], which broadcast."""
    player, nobody = tf.constant(PLAYER, tf.uint8), tf.constant(0, tf.uint8)
    return digits + tf.one_hot(cells, self.state_size, on_value=player, off_value=nobody)

  def symmetries(self) -> base.Symmetries:
    """A square board may be mirrored at the diagonal from the start to the target."""
    if self.height != self.width:
      return super().symmetries()
    return base.Symmetries(grid.transposition(self.height))

  # Exact distances.

  def exact_distances(self, states: tf.Tensor) -> tf.Tensor:
    """Jumps from every cell to the target, wherever the player is: [B, N] -> [B, N] int32.

    UNREACHABLE where no jumps lead to the target.
    """
    far = self.state_size  # more than any distance
    by_digit = self._landings.reshape(-1, _NUM_DIRECTIONS)
    cells = tf.range(self.state_size)
    landings = tf.gather(by_digit, cells * MAX_DIGIT + tf.cast(_digits(states), tf.int32))
    distances = tf.zeros_like(states, tf.int32) + tf.where(cells == self._target, 0, far)

    def relax(_: tf.Tensor, distances: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      through = 1 + tf.reduce_min(tf.gather(distances, landings, batch_dims=1), axis=-1)
      relaxed = tf.minimum(distances, through)
      return tf.reduce_any(relaxed != distances), relaxed

    _, distances = tf.while_loop(lambda changed, _: changed, relax, (True, distances))
    return tf.where(distances < far, distances, UNREACHABLE)

  def optimal_lengths(self, states: tf.Tensor) -> tf.Tensor:
    """Jumps of a shortest plan, or UNREACHABLE: [B, N] -> [B] int32."""
    return tf.gather(self.exact_distances(states), self.players(states), batch_dims=1)

  # Generators.

  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    """Boards made as those of the training trajectories, with the player at the start."""
    keys = counter_random.episode_keys("digit_jumper/instances", seed, episodes)
    digits, _, _ = self._planted_boards(keys)
    return tf.ensure_shape(self._place(digits, START), [keys.shape[0], self.state_size])

  def trajectories(self, seed: int, episodes: tf.Tensor) -> base.Trajectories:
    """The player follows the path that the board was made around."""
    keys = counter_random.episode_keys("digit_jumper/trajectories", seed, episodes)
    digits, cells, actions = self._planted_boards(keys)
    cells = tf.ensure_shape(cells, [keys.shape[0], self.max_trajectory_states])
    moving = cells != self._target
    return base.Trajectories(
      self._place(digits[:, None], cells),
      tf.where(moving, actions, base.NO_ACTION)[:, :-1],
      1 + tf.reduce_sum(tf.cast(moving, tf.int32), axis=-1),
    )

  # XLA makes this 20 times as fast as a plain graph: thousands of tiny steps.
  @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.uint64)])
  def _planted_boards(self, keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Boards with a path from start to target.

    Args:
      keys: [B] uint64.

    Returns:
      digits: [B, N] uint8.
      cells: [B, T] int32, the path; it stays at the target once it is there.
      actions: [B, T] int32, the direction in which the path leaves each of the cells.
    """
    batch = tf.shape(keys)[0]

    def attempt(number: tf.Tensor, exits: tf.Tensor, path: tf.Tensor) -> tuple[tf.Tensor, ...]:
      # Only rows whose path was too long walk again: a row must not depend on the others.
      starts = tf.where(path[-1] == self._target, self._target, START)
      exits = self._walk(counter_random.bits(keys, number), starts, exits)
      return number + 1, exits, self._follow(exits)

    _, exits, path = tf.while_loop(
      lambda number, exits, path: tf.reduce_any(path[-1] != self._target),
      attempt,
      (
        tf.constant(_FIRST_PATH_DRAW),
        tf.zeros([batch * self.state_size], tf.int32),
        tf.fill([self.max_trajectory_states, batch], START),
      ),
    )
    cells = tf.transpose(path)
    first_cells = tf.range(batch)[:, None] * self.state_size
    jumps = tf.gather(exits, first_cells + cells)
    digits = self._fill_around(cells, jumps // _NUM_DIRECTIONS, keys)
    return digits, cells, jumps % _NUM_DIRECTIONS

  def _walk(self, keys: tf.Tensor, starts: tf.Tensor, exits: tf.Tensor) -> tf.Tensor:
    """Random walks to the target; keeps the jump by which each cell was last left.

    Following these last exits from the start gives the walk without its loops.

    Args:
      keys: [B] uint64.
      starts: [B] int32 cells.
      exits: [B * N] int32 jumps, to be overwritten.

    Returns:
      [B * N] int32; without meaning for cells that were not visited and for the target.
    """
    first_cells = tf.range(tf.size(keys)) * self.state_size

    def step(time: tf.Tensor, cells: tf.Tensor, exits: tf.Tensor) -> tuple[tf.Tensor, ...]:
      picks = counter_random.integers(keys, time, tf.gather(self._jump_counts, cells))
      jumps = tf.gather(self._jumps.reshape(-1), cells * _NUM_JUMPS + picks)
      exits = tf.tensor_scatter_nd_update(exits, (first_cells + cells)[:, None], jumps)
      return time + 1, self._jump(cells, jumps), exits

    _, _, exits = tf.while_loop(
      lambda time, cells, exits: tf.reduce_any(cells != self._target),
      step,
      (tf.constant(0), starts, exits),
    )
    return exits

  def _follow(self, exits: tf.Tensor) -> tf.Tensor:
    """The cells met from the start on: [B * N] int32 exits -> [T, B] int32."""
    batch = tf.size(exits) // self.state_size
    first_cells = tf.range(batch) * self.state_size
    cells = tf.fill([batch], START)
    path = tf.TensorArray(tf.int32, self.max_trajectory_states, element_shape=cells.shape)

    def step(time: tf.Tensor, cells: tf.Tensor, path: tf.TensorArray) -> tuple:
      path = path.write(time, cells)
      return time + 1, self._jump(cells, tf.gather(exits, first_cells + cells)), path

    _, _, path = tf.while_loop(
      lambda time, cells, path: time < self.max_trajectory_states,
      step,
      (tf.constant(0), cells, path),
      maximum_iterations=self.max_trajectory_states,
    )
    return path.stack()

  def _jump(self, cells: tf.Tensor, jumps: tf.Tensor) -> tf.Tensor:
    """Where the jumps [B] from the cells [B] land; the target is never left again."""
    landed = tf.gather(self._landings.reshape(-1), cells * _NUM_JUMPS + jumps)
    return tf.where(cells == self._target, cells, landed)

  def _fill_around(self, cells: tf.Tensor, digits: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
    """Random boards, except for the digits [B, T] at the cells [B, T]: -> [B, N] uint8."""
    fill_keys = counter_random.bits(keys, _FILL_DRAW)[:, None]
    fill = counter_random.integers(fill_keys, tf.range(self.state_size), MAX_DIGIT)
    digits = tf.where(cells == self._target, fill[:, self._target, None], digits)
    rows = tf.zeros_like(cells) + tf.range(tf.shape(cells)[0])[:, None]
    boards = tf.tensor_scatter_nd_update(fill, tf.stack([rows, cells], axis=-1), digits)
    return tf.cast(boards, tf.uint8)

  # Text.

  def parse_instance(self, text: str) -> np.ndarray:
    """Reads rows of digits joined by "/", then " @r,c" if the player is not at the top left."""
    board, at, player = text.strip().partition("@")
    rows = board.strip().split("/")
    if len(rows) != self.height:
      raise base.InstanceError(f"expected {self.height} rows joined by '/', got {len(rows)}.")
    state = np.concatenate([self._parse_row(row, number) for number, row in enumerate(rows)])
    state[self._parse_player(player) if at else START] += PLAYER
    if self.optimal_lengths(tf.constant(state[None])).numpy()[0] == UNREACHABLE:
      raise base.InstanceError("unsolvable: the target cannot be reached.")
    return state

  def _parse_row(self, row: str, number: int) -> np.ndarray:
    if len(row) != self.width:
      raise base.InstanceError(f"row {number} (from 0) needs {self.width} digits; got {len(row)}.")
    for column, symbol in enumerate(row):
      if symbol not in DIGITS:
        raise base.InstanceError(
          f"unknown symbol {symbol!r} at row {number}, column {column} (from 0); "
          f"expected one of {DIGITS}."
        )
    return np.array([int(symbol) - 1 for symbol in row], np.uint8)

  def _parse_player(self, text: str) -> int:
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*", text)
    if not match:
      raise base.InstanceError(
        f"bad player position {reprlib.repr(text)}; expected '@row,column', counted from 0."
      )
    row, column = int(match[1]), int(match[2])
    if row >= self.height or column >= self.width:
      raise base.InstanceError(
        f"player position {row},{column} is off the {self.height}x{self.width} board."
      )
    return row * self.width + column

  def format_instance(self, state: np.ndarray) -> str:
    digits = np.asarray(state).reshape(self.board_shape) % PLAYER + 1
    board = "/".join("".join(str(digit) for digit in row) for row in digits)
    row, column = divmod(int(np.argmax(state)), self.width)
    return board if (row, column) == (0, 0) else f"{board} @{row},{column}"

  # Drawing.

  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    """Draws the digits, darker where larger, the player as a disc, the target in a frame."""
    from matplotlib import patches

    values = np.asarray(state).reshape(self.board_shape)
    digits = values % PLAYER + 1
    ax.imshow(digits, cmap="Blues", vmin=0, vmax=2 * MAX_DIGIT)  # the pale half of the colours
    ax.set(xticks=[], yticks=[])
    (player,) = np.argwhere(values >= PLAYER)
    ax.add_patch(patches.Circle(player[::-1], 0.5, facecolor="#ff8f00", linewidth=0))
    corner = (self.width - 1.5, self.height - 1.5)
    ax.add_patch(patches.Rectangle(corner, 1, 1, fill=False, edgecolor="#2e7d32", linewidth=2))
    cell_points = 72 * ax.get_window_extent().height / ax.figure.dpi / self.height
    for digit in range(1, MAX_DIGIT + 1):  # Six markers are much faster than 400 texts.
      rows, columns = np.nonzero(digits == digit)
      style = {"marker": f"${digit}$", "markersize": cell_points / 2, "markeredgewidth": 0}
      ax.plot(columns, rows, color="black", linestyle="", **style)


def _digits(states: tf.Tensor) -> tf.Tensor:
  """The boards without the player: [..., N] -> [..., N] uint8."""
  return tf.where(states >= PLAYER, states - PLAYER, states)
