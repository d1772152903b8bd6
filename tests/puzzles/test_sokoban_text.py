"""Sokoban levels as XSB text, good and bad."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crtr_tf.puzzles import InstanceError
from crtr_tf.puzzles.sokoban import Cell, Sokoban, level_size

PUZZLE = Sokoban(height=8, width=8, num_boxes=2)

SMALL = """\
#####
#@$.#
#####"""

# The layout of the public Boxoban files.
BOXOBAN = """\
; 0
##########
##########
#####   ##
####    ##
#### $ $##
#### .  ##
#### @.###
#####  ###
#####  ###
##########

; 1
##########
#  #######
# .#######
#    #####
# $  #####
#  *@#####
#. $  ####
#     ####
##########
##########
"""


@st.composite
def levels(draw: st.DrawFn) -> np.ndarray:
  """Any 8x8 board with a wall around it, one player and as many boxes as targets."""
  inner = draw(st.lists(st.sampled_from([Cell.WALL, Cell.FLOOR]), min_size=36, max_size=36))
  count, on_target = draw(st.integers(0, 4)), draw(st.integers(0, 4))
  player = draw(st.sampled_from([Cell.PLAYER, Cell.PLAYER_ON_TARGET]))
  targets = count - (player == Cell.PLAYER_ON_TARGET)
  if targets < 0 or count + on_target == 0:
    count, targets, on_target, player = 1, 1, 0, Cell.PLAYER
  things = [Cell.BOX] * count + [Cell.TARGET] * targets + [Cell.BOX_ON_TARGET] * on_target
  things.append(player)
  for cell, thing in zip(draw(st.permutations(range(36))), things, strict=False):
    inner[cell] = thing
  return np.pad(np.reshape(inner, (6, 6)), 1).astype(np.uint8).reshape(-1)


@settings(max_examples=200, deadline=None)
@given(levels())
def test_text_round_trip(level: np.ndarray):
  np.testing.assert_array_equal(PUZZLE.parse_instance(PUZZLE.format_instance(level)), level)


def test_a_small_level_is_centred_among_walls():
  state = PUZZLE.parse_instance(SMALL).reshape(8, 8)
  expected = np.zeros((8, 8), np.uint8)
  expected[3, 2:5] = (Cell.PLAYER, Cell.BOX, Cell.TARGET)
  np.testing.assert_array_equal(state, expected)


def test_floor_outside_the_walls_becomes_wall():
  ragged = PUZZLE.parse_instance("  ###\n###+##\n# $* #\n#-_  #\n######\n")
  dashed = PUZZLE.parse_instance("--###-\n###+##\n# $* #\n#    #\n######")
  boxed = PUZZLE.parse_instance("######\n###+##\n# $* #\n#    #\n######")
  np.testing.assert_array_equal(ragged, boxed)
  np.testing.assert_array_equal(dashed, boxed)


def test_a_closed_room_that_nobody_reaches_stays_floor():
  state = PUZZLE.parse_instance("########\n#@$.#  #\n########").reshape(8, 8)
  np.testing.assert_array_equal(state[3, 5:7], [Cell.FLOOR, Cell.FLOOR])


def test_indentation_does_not_count():
  indented = "\n".join("    " + line for line in SMALL.splitlines())
  np.testing.assert_array_equal(PUZZLE.parse_instance(indented), PUZZLE.parse_instance(SMALL))


def test_boxoban_files():
  puzzle = Sokoban()
  assert level_size(BOXOBAN) == (10, 10)
  parsed = puzzle.parse_instances(BOXOBAN)
  assert parsed.errors == () and parsed.numbers == (1, 2)
  boards = parsed.states.reshape(2, 12, 12)
  assert boards[0, 7, 6] == Cell.PLAYER and boards[1, 6, 4] == Cell.BOX_ON_TARGET
  np.testing.assert_array_equal(
    Sokoban(10, 10).parse_instances(BOXOBAN).states.reshape(2, 10, 10),
    boards[:, 1:-1, 1:-1],
  )


def test_levels_are_split_at_blank_lines_and_headers():
  text = f"\n;a\n{SMALL}\n;b ; c\n{SMALL}\n   \n\n{SMALL}\r\n\r\n; the end\n"
  assert PUZZLE.split_instances(text) == [SMALL] * 3


def test_a_bad_level_does_not_hide_the_good_ones():
  parsed = PUZZLE.parse_instances(f"{SMALL}\n\n####\n#@.#\n####\n\n{SMALL}")
  assert parsed.numbers == (1, 3) and len(parsed.states) == 2
  assert parsed.errors == ("instance 2: the level has no boxes.",)


def test_level_size():
  assert level_size(SMALL) == (6, 6)  # no smaller board is offered
  assert level_size(f"{SMALL}\n\n  {'#' * 20}  \n") == (6, 20)
  with pytest.raises(InstanceError, match="the input is empty"):
    level_size("; only a header\n")


def test_a_solved_level_is_accepted():
  assert PUZZLE.is_solved(PUZZLE.parse_instance("#####\n#@* #\n#####")[None])[0]


@pytest.mark.parametrize(
  ("level", "message"),
  [
    ("#####\n#@$x#\n#####", "unknown symbol 'x' in row 2, column 4; expected # @"),
    ("#####\n#@\t.#\n#####", r"unknown symbol '\\t' in row 2, column 3"),
    ("#####\n# $.#\n#####", "the level has no player"),
    ("######\n#@$.@#\n######", "the level has 2 players; expected one"),
    ("#######\n#@$*.+#\n#######", "the level has 2 players; expected one"),
    ("#####\n#@  #\n#####", "the level has no boxes"),
    ("######\n#@$$.#\n######", "more boxes than targets: 2 and 1"),
    ("######\n#+$. #\n######", "fewer boxes than targets: 1 and 2; which targets"),
    ("#####\n#@$. \n#####", "the border is open: the player could walk off the board"),
    ("#####\n#@$.#\n## ##", "the border is open"),
    ("#####\n#@$.#\n#  ", "the border is open"),
    ("@$.", "the border is open"),
    ("####\n#@ #$.\n####", "the box in row 2, column 5 is outside the walls"),
    ("  #### .\n  #@$#\n  ####", "the target in row 1, column 8 is outside the walls"),
    ("#########\n#@$.    #\n#########", r"too large: 3x9 \(rows x columns\), the board is 8x8"),
    (f"{SMALL}\n\n{SMALL}", "expected one level; got 2"),
    ("", "expected one level; got 0"),
  ],
)
def test_bad_levels_are_refused_with_the_reason(level: str, message: str):
  with pytest.raises(InstanceError, match=message) as error:
    PUZZLE.parse_instance(level)
  assert "\n" not in str(error.value)


def test_unknown_moves_are_refused():
  message = "unknown sokoban move 'x' at position 3; expected l, u, r, d, L, U, R, D"
  with pytest.raises(InstanceError, match=message):
    PUZZLE.parse_plan("l uxr")
