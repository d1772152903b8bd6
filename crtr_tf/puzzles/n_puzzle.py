"""The sliding-tile puzzle: 8-puzzle, 15-puzzle and 24-puzzle.

A state lists the tiles row by row, 0 is the blank, and the solved board is 1 2 ... n² - 1 0. An
action is the way the blank moves. Axes: B boards, A actions, S = n² cells, M moves of a trajectory.
"""

import re
import reprlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base, counter_random, grid

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes

BLANK = 0
# Moves of a training trajectory for each size; 150 is the paper's number for the 15-puzzle.
DEFAULT_TRAJECTORY_MOVES = {3: 60, 4: 150, 5: 300}

_NUM_DIRECTIONS = len(grid.DIRECTION_NAMES)
_NO_LAST_MOVE = _NUM_DIRECTIONS  # stands for the move before the first one
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


class NPuzzle(base.Puzzle):
  """Slide the tiles into order.

  Args:
    size: rows and columns of the board: 3, 4 or 5.
    trajectory_moves: length of the random walks that make training trajectories; by default 60, 150
      or 300, depending on the size.
  """

  name = "n_puzzle"
  action_names = grid.DIRECTION_NAMES
  inverse_actions = grid.OPPOSITE_DIRECTION

  def __init__(self, size: int = 4, trajectory_moves: int | None = None) -> None:
    if size not in DEFAULT_TRAJECTORY_MOVES:
      raise ValueError(f"size must be 3, 4 or 5; got {size}.")
    if trajectory_moves is None:
      trajectory_moves = DEFAULT_TRAJECTORY_MOVES[size]
    if trajectory_moves < 1:
      raise ValueError(f"trajectory_moves must be at least 1; got {trajectory_moves}.")
    self.size = size
    self.trajectory_moves = trajectory_moves
    self.board_shape = (size, size)
    self.state_size = size * size
    self.num_values = size * size
    self.max_trajectory_states = trajectory_moves + 1
    self._solved = np.roll(np.arange(self.state_size, dtype=np.uint8), -1)
    # A blank that cannot move "moves" to its own cell, so that no rule needs a mask.
    own_cells = np.arange(self.state_size, dtype=np.int32)[:, None]
    near = grid.neighbours(size, size)
    self._targets = np.where(near == grid.OFF_BOARD, own_cells, near)  # [S, A]
    self._walk_moves, self._walk_counts = _moves_without_undo(near)

  # Rules.

  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    blanks = self._blanks(states)
    targets = tf.gather(self._targets.reshape(-1), blanks * _NUM_DIRECTIONS + actions)
    return self._swap(states, blanks, targets)

  def children(self, states: tf.Tensor) -> base.Children:
    blanks = self._blanks(states)[:, None]
    targets = tf.gather(self._targets, blanks[:, 0])  # [B, A]
    return base.Children(self._swap(states[:, None], blanks, targets), targets != blanks)

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(states == self._solved, axis=-1)

  def goal(self, states: tf.Tensor) -> tf.Tensor:
    return tf.zeros_like(states) + self._solved

  def _blanks(self, states: tf.Tensor) -> tf.Tensor:
    """The cell of the blank: [B, S] -> [B] int32."""
    cells = tf.range(self.state_size)
    return tf.reduce_sum(tf.where(states == BLANK, cells, 0), axis=-1)

  def _swap(self, states: tf.Tensor, blanks: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
    """Swaps blank and tile: states [..., S] with cells [...], which broadcast, -> [..., S]."""
    cells = tf.range(self.state_size)
    at_target = targets[..., None] == cells
    blank = tf.constant(BLANK, tf.uint8)
    tiles = tf.reduce_max(tf.where(at_target, states, blank), axis=-1, keepdims=True)
    return tf.where(blanks[..., None] == cells, tiles, tf.where(at_target, blank, states))

  def symmetries(self) -> base.Symmetries:
    """The board may be mirrored at its diagonal, if tiles are renamed by where they belong."""
    cells = grid.transposition(self.size)
    renamed = np.zeros_like(cells, np.uint8)
    renamed[:, self._solved] = self._solved[cells]
    return base.Symmetries(cells, renamed)

  # Generators.

  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    """Uniform over all solvable boards but the solved one."""
    keys = counter_random.episode_keys("n_puzzle/instances", seed, episodes)
    solved = tf.tile(tf.constant(self._solved)[None], [tf.shape(keys)[0], 1])

    def redraw(attempt: tf.Tensor, boards: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      drawn = self._solvable_boards(counter_random.bits(keys, attempt))
      return attempt + 1, tf.where(self.is_solved(boards)[:, None], drawn, boards)

    _, boards = tf.while_loop(
      lambda _, boards: tf.reduce_any(self.is_solved(boards)),
      redraw,
      (tf.constant(0, tf.int64), solved),
      shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, self.state_size])),
    )
    return tf.ensure_shape(boards, [keys.shape[0], self.state_size])

  def _solvable_boards(self, keys: tf.Tensor) -> tf.Tensor:
    """Uniformly random solvable boards: [B] keys -> [B, S] uint8."""
    boards = tf.cast(counter_random.permutations(keys, self.state_size), tf.uint8)
    # Swapping tiles 1 and 2 pairs every unsolvable board with a solvable one: still uniform.
    one, two = tf.constant(1, tf.uint8), tf.constant(2, tf.uint8)
    swapped = tf.where(boards == one, two, tf.where(boards == two, one, boards))
    return tf.where(self.is_solvable(boards)[:, None], boards, swapped)

  def is_solvable(self, states: tf.Tensor) -> tf.Tensor:
    """Whether moves can solve a permutation of the tiles: [B, S] -> [B] bool.

    Every move swaps two entries and carries the blank one step, so the parity of the permutation
    plus that of the blank's distance from its corner never changes; it is even when solved.
    """
    cells = tf.range(self.state_size)
    # The blank counts as the largest entry, which makes the solved board the identity.
    order = tf.where(states == BLANK, self.state_size, tf.cast(states, tf.int32))
    inverted = (order[:, :, None] > order[:, None, :]) & (cells[:, None] < cells[None, :])
    inversions = tf.reduce_sum(tf.cast(inverted, tf.int32), axis=[1, 2])
    blanks = self._blanks(states)
    blank_distance = 2 * (self.size - 1) - blanks // self.size - blanks % self.size
    return (inversions + blank_distance) % 2 == 0

  def trajectories(self, seed: int, episodes: tf.Tensor) -> base.Trajectories:
    """Random walks from the solved board that never undo their last move, read backwards."""
    keys = counter_random.episode_keys("n_puzzle/trajectories", seed, episodes)
    walked, moves = self._random_walks(keys)
    # Backwards in time, each move turns into the one that undoes it.
    states = tf.transpose(tf.reverse(walked, axis=[0]), [1, 0, 2])
    actions = tf.gather(self.inverse_actions, tf.transpose(tf.reverse(moves, axis=[0])))
    lengths = tf.fill(tf.shape(keys), self.max_trajectory_states)
    return base.Trajectories(
      tf.ensure_shape(states, [keys.shape[0], self.max_trajectory_states, self.state_size]),
      tf.ensure_shape(actions, [keys.shape[0], self.trajectory_moves]),
      tf.ensure_shape(lengths, keys.shape),
    )

  # XLA makes this six times as fast as a plain graph: hundreds of small steps.
  @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.uint64)])
  def _random_walks(self, keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """[B] keys -> boards [M + 1, B, S] uint8 from the solved one on, moves [M, B] int32."""
    boards = tf.tile(tf.constant(self._solved)[None], [tf.shape(keys)[0], 1])
    last_moves = tf.fill(tf.shape(keys), _NO_LAST_MOVE)
    walked = tf.TensorArray(tf.uint8, self.max_trajectory_states, element_shape=boards.shape)
    moves = tf.TensorArray(tf.int32, self.trajectory_moves, element_shape=keys.shape)

    def step(
      time: tf.Tensor,
      boards: tf.Tensor,
      last_moves: tf.Tensor,
      walked: tf.TensorArray,
      moves: tf.TensorArray,
    ) -> tuple:
      situations = self._blanks(boards) * (_NUM_DIRECTIONS + 1) + last_moves
      picks = counter_random.integers(keys, time, tf.gather(self._walk_counts, situations))
      chosen = tf.gather(self._walk_moves.reshape(-1), situations * _NUM_DIRECTIONS + picks)
      boards = self.apply(boards, chosen)
      return time + 1, boards, chosen, walked.write(time + 1, boards), moves.write(time, chosen)

    *_, walked, moves = tf.while_loop(
      lambda time, *_: time < self.trajectory_moves,
      step,
      (tf.constant(0), boards, last_moves, walked.write(0, boards), moves),
      maximum_iterations=self.trajectory_moves,
    )
    return walked.stack(), moves.stack()

  # Text.

  def parse_instance(self, text: str) -> np.ndarray:
    """Reads the tiles row by row, separated by spaces or commas."""
    tiles = [
      self._parse_tile(word, position)
      for position, word in enumerate(re.findall(r"[^\s,]+", text), start=1)
    ]
    if len(tiles) != self.state_size:
      raise base.InstanceError(f"expected {self.state_size} numbers, got {len(tiles)}.")
    for position, tile in enumerate(tiles, start=1):
      if tile in tiles[: position - 1]:
        raise base.InstanceError(f"number {tile} is repeated at position {position}.")
    state = np.array(tiles, np.uint8)
    if not self.is_solvable(tf.constant(state[None])).numpy()[0]:
      raise base.InstanceError(
        "unsolvable: odd permutation of the tiles (swapping any two tiles would make it solvable)."
      )
    return state

  def _parse_tile(self, word: str, position: int) -> int:
    if not _INTEGER.fullmatch(word):
      raise base.InstanceError(f"{reprlib.repr(word)} at position {position} is not a number.")
    if not 0 <= int(word) < self.state_size:
      raise base.InstanceError(
        f"number {word} at position {position} is out of range; "
        f"expected 0 (the blank) to {self.state_size - 1}."
      )
    return int(word)

  def format_instance(self, state: np.ndarray) -> str:
    return " ".join(str(tile) for tile in state)

  # Drawing.

  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    """Draws the tiles with their numbers; those in place are green."""
    from matplotlib import patches

    ax.set(xlim=(0, self.size), ylim=(self.size, 0), xticks=[], yticks=[], aspect="equal")
    ax.set_facecolor("#4a4038")
    tile_points = 72 * ax.get_window_extent().height / ax.figure.dpi / self.size
    for cell, tile in enumerate(state):
      if tile == BLANK:
        continue
      row, column = divmod(cell, self.size)
      colour = "#a5d6a7" if tile == self._solved[cell] else "#f2dcb3"
      shape = patches.BoxStyle.Round(pad=0, rounding_size=0.1)
      ax.add_patch(
        patches.FancyBboxPatch(
          (column + 0.05, row + 0.05), 0.9, 0.9, boxstyle=shape, facecolor=colour, linewidth=0
        )
      )
      centre = (column + 0.5, row + 0.52)
      ax.text(*centre, str(tile), ha="center", va="center", fontsize=0.45 * tile_points)


def _moves_without_undo(near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """The moves open to a random walk, by situation = cell of the blank * 5 + last move.

  Args:
    near: [S, A] neighbours of each cell, or OFF_BOARD.

  Returns:
    moves: [S * 5, A] int32, the allowed ones first.
    counts: [S * 5] int32, how many are allowed.
  """
  undo = np.append(grid.OPPOSITE_DIRECTION, _NO_LAST_MOVE)  # [5]; before the first: no direction
  forbidden = undo[:, None] == np.arange(_NUM_DIRECTIONS)  # [5, A]
  allowed = ((near != grid.OFF_BOARD)[:, None] & ~forbidden).reshape(-1, _NUM_DIRECTIONS)
  moves = np.argsort(~allowed, axis=1, kind="stable").astype(np.int32)
  return moves, allowed.sum(axis=1, dtype=np.int32)
