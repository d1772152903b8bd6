"""The rules of Sokoban on drawn boards. `test_contract.py` checks what all puzzles share."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import colors, figure

from crtr_tf.puzzles import NO_ACTION
from crtr_tf.puzzles.sokoban import Cell, Sokoban

UP, DOWN, LEFT, RIGHT = range(4)
CODES = {"#": 0, " ": 1, ".": 2, "*": 3, "$": 4, "@": 5, "+": 6}
PUZZLE = Sokoban(height=6, width=7, num_boxes=2)


def board(*inner: str) -> np.ndarray:
  """Draws the inside of a 6x7 board; rows that are left out are wall."""
  rows = ["#" * 7, *(f"#{row:#<5}#" for row in inner)]
  rows += ["#" * 7] * (6 - len(rows))
  return np.array([CODES[symbol] for row in rows for symbol in row], np.uint8)


def step(state: np.ndarray, action: int) -> np.ndarray:
  return PUZZLE.apply(tf.constant(state[None]), tf.constant([action])).numpy()[0]


def solved(state: np.ndarray) -> bool:
  return bool(PUZZLE.is_solved(tf.constant(state[None]))[0])


@st.composite
def any_boards(draw: st.DrawFn) -> np.ndarray:
  """Arbitrary cells with at most one player; not even the border need be wall."""
  cells = draw(st.lists(st.integers(0, 4), min_size=42, max_size=42))
  state = np.array(cells, np.uint8)
  if draw(st.booleans()):
    state[draw(st.integers(0, 41))] = draw(st.sampled_from([Cell.PLAYER, Cell.PLAYER_ON_TARGET]))
  return state


def slow_step(state: np.ndarray, action: int) -> np.ndarray:
  """The rules once more, one state at a time and in terms of layers instead of codes."""
  cells = np.pad(state.reshape(6, 7), 2)  # walls all around
  wall, target = cells == 0, np.isin(cells, (2, 3, 6))
  box, player = np.isin(cells, (3, 4)), np.isin(cells, (5, 6))
  offset = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)][action])
  for start in np.argwhere(player):
    ahead, beyond = tuple(start + offset), tuple(start + 2 * offset)
    if wall[ahead] or (box[ahead] and (wall[beyond] or box[beyond])):
      continue
    if box[ahead]:
      box[ahead], box[beyond] = False, True
    player[tuple(start)], player[ahead] = False, True
  layers = [wall, box & target, box, player & target, player, target]
  cells = np.select(layers, [0, 3, 4, 6, 5, 2], default=1)
  return cells[2:-2, 2:-2].reshape(-1).astype(np.uint8)


@pytest.mark.parametrize(
  ("action", "before", "after"),
  [
    # Walks in every direction.
    (UP, ["  ", " @"], [" @", "  "]),
    (DOWN, [" @", "  "], ["  ", " @"]),
    (LEFT, [" @"], ["@ "]),
    (RIGHT, ["@ "], [" @"]),
    # Onto a target, off it, and from one to the next.
    (RIGHT, ["@."], [" +"]),
    (RIGHT, ["+ "], [".@"]),
    (LEFT, [".+"], ["+."]),
    # Pushes in every direction.
    (UP, [" ", "$", "@"], ["$", "@", " "]),
    (DOWN, ["@", "$", " "], [" ", "@", "$"]),
    (LEFT, [" $@"], ["$@ "]),
    (RIGHT, ["@$ "], [" @$"]),
    # A box comes onto a target, leaves one, and goes from one to the next; so does the player.
    (RIGHT, ["@$."], [" @*"]),
    (RIGHT, ["@* "], [" +$"]),
    (RIGHT, ["+*."], [".+*"]),
    (RIGHT, ["+$ "], [".@$"]),
  ],
)
def test_moves(action: int, before: list[str], after: list[str]):
  np.testing.assert_array_equal(step(board(*before), action), board(*after))


@pytest.mark.parametrize(
  ("action", "inner"),
  [
    (UP, ["@"]),  # against the wall
    (RIGHT, [" @"]),
    (RIGHT, ["@$"]),  # a box against the wall
    (RIGHT, ["@*"]),
    (RIGHT, ["@$$ "]),  # two boxes in a row
    (RIGHT, ["@$* "]),
    (RIGHT, ["+*$."]),
    (UP, ["$ ", "@ "]),  # a box in the corner
    (LEFT, ["$@", "  "]),
    (RIGHT, ["$ .", "   "]),  # nobody there to move
    (DOWN, ["* "]),
  ],
)
def test_impossible_moves_change_nothing(action: int, inner: list[str]):
  state = board(*inner)
  np.testing.assert_array_equal(step(state, action), state)
  assert not PUZZLE.children(tf.constant(state[None])).valid[0, action]


def test_actions_out_of_range_change_nothing():
  state = board("@ ", "  ")
  for action in (NO_ACTION, 4):
    np.testing.assert_array_equal(step(state, action), state)


def test_solved():
  assert solved(board("@*", "* "))
  assert solved(board("**"))  # the goal state without a player
  assert not solved(board("@*", "$."))
  assert not solved(board("+$", "* "))
  assert not solved(board("@ "))  # without boxes there is nothing to solve


def test_goal_covers_all_targets_and_removes_the_player():
  state = board("+$ ", ".$*", "  $")
  np.testing.assert_array_equal(
    PUZZLE.goal(tf.constant(state[None]))[0], board("*  ", "* *", "   ")
  )


@settings(max_examples=15, deadline=None)
@given(st.lists(any_boards(), min_size=1, max_size=20))
def test_any_board_moves_as_in_the_slow_rules(boards: list[np.ndarray]):
  states = np.stack(boards)
  children, valid = (part.numpy() for part in PUZZLE.children(tf.constant(states)))
  for row, state in enumerate(states):
    for action in range(4):
      expected = slow_step(state, action)
      np.testing.assert_array_equal(children[row, action], expected)
      np.testing.assert_array_equal(valid[row, action], (expected != state).any())
  for action in range(4):
    applied = PUZZLE.apply(tf.constant(states), tf.fill([len(states)], action))
    np.testing.assert_array_equal(applied, children[:, action])


def test_xla_equals_eager_and_keeps_static_shapes():
  compiled = tf.function(PUZZLE.children, jit_compile=True)
  states = tf.constant(np.stack([board("@$.", "  $"), board("**"), board(" + ", "$$$", "  .")]))
  for xla, eager in zip(compiled(states), PUZZLE.children(states), strict=True):
    np.testing.assert_array_equal(xla, eager)
  shapes = compiled.get_concrete_function(tf.TensorSpec([3, 42], tf.uint8)).structured_outputs
  assert shapes.states.shape == (3, 4, 42) and shapes.valid.shape == (3, 4)


def test_a_plan_is_spelled_with_capital_pushes():
  start = board("@ $ .", "     ")
  actions = [RIGHT, RIGHT, RIGHT]
  assert PUZZLE.format_plan(start, actions) == "rRR"
  assert PUZZLE.format_plan(start, [LEFT, DOWN, RIGHT, UP, RIGHT]) == "ldruR"  # l is a bump
  assert PUZZLE.format_plan(board("@$*  "), [RIGHT]) == "r"  # two boxes do not move
  assert PUZZLE.format_plan(board("*"), []) == ""
  assert PUZZLE.parse_plan(" rR\nR d") == [RIGHT, RIGHT, RIGHT, DOWN]
  assert PUZZLE.parse_plan("LURDlurd") == [LEFT, UP, RIGHT, DOWN] * 2


def test_drawing_tells_the_cells_apart():
  ax = figure.Figure(figsize=(2, 2)).subplots()
  PUZZLE.draw(board("@ $", "* ."), ax)
  centres = {}
  for patch in ax.patches:
    x, y = patch.get_window_extent().transformed(ax.transData.inverted()).get_points().mean(axis=0)
    centres.setdefault((int(y), int(x)), []).append(colors.to_hex(patch.get_facecolor()))
  assert set(centres) == {(1, 1), (1, 3), (2, 1), (2, 3)}
  assert len(centres[2, 1]) == 2  # a box with the target's mark
  assert centres[2, 1][1] == centres[2, 3][0]
  assert len({centres[cell][0] for cell in centres}) == 4


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    ({"height": 5}, "height must be 6 to 64; got 5"),
    ({"width": 1000}, "width must be 6 to 64; got 1000"),
    ({"num_boxes": 0}, "num_boxes must be 1 to 8; got 0"),
    ({"num_boxes": 9}, "num_boxes must be 1 to 8; got 9"),
    ({"height": 6, "width": 6, "num_boxes": 5}, "got 5 on a 6x6 board with 16"),
    ({"max_trajectory_states": 1}, "max_trajectory_states must be at least 2; got 1"),
  ],
)
def test_absurd_arguments_are_refused(arguments: dict[str, int], message: str):
  with pytest.raises(ValueError, match=message):
    Sokoban(**arguments)


def test_importing_the_puzzles_does_not_load_numba():
  code = "import sys, crtr_tf.puzzles; sys.exit('numba' in sys.modules)"
  assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
