"""The sliding-tile puzzle against slow, obvious versions of its rules and generators.

What all puzzles share (shapes, XLA, batches of one, text round trips) is in test_contract.py.
"""

import numpy as np
import pytest
import tensorflow as tf
from matplotlib import figure
from scipy import stats

from crtr_tf.puzzles import InstanceError, counter_random, grid
from crtr_tf.puzzles.n_puzzle import NPuzzle

SIZES = (3, 4, 5)
U, D, L, R = range(4)


def state_of(text: str) -> tf.Tensor:
  return tf.constant([[int(word) for word in text.split()]], tf.uint8)


def random_boards(size: int, count: int) -> np.ndarray:
  """Permutations of the tiles, solvable or not: [count, S] uint8."""
  rng = np.random.default_rng(size)
  return rng.permuted(np.tile(np.arange(size * size, dtype=np.uint8), (count, 1)), axis=1)


def slide(board: np.ndarray, direction: int) -> np.ndarray | None:
  """Moves the blank of a square board, or gives None where that is not possible."""
  row, column = np.argwhere(board == 0)[0]
  to_row = row + (-1, 1, 0, 0)[direction]
  to_column = column + (0, 0, -1, 1)[direction]
  if not (0 <= to_row < len(board) and 0 <= to_column < len(board)):
    return None
  moved = board.copy()
  moved[row, column], moved[to_row, to_column] = board[to_row, to_column], 0
  return moved


def is_even(board: np.ndarray) -> bool:
  """Parity by counting cycles, plus the blank's distance from its corner."""
  size = round(len(board) ** 0.5)
  home = (board.astype(int) - 1) % len(board)  # the cell where each entry belongs
  cycles, seen = 0, set()
  for cell in range(len(board)):
    cycles += cell not in seen
    while cell not in seen:
      seen.add(cell)
      cell = home[cell]
  row, column = divmod(int(np.flatnonzero(board == 0)[0]), size)
  return (len(board) - cycles + 2 * (size - 1) - row - column) % 2 == 0


def test_the_four_moves_of_the_blank():
  state = state_of("1 2 3 4 0 5 6 7 8")
  moved = {U: "1 0 3 4 2 5 6 7 8", D: "1 2 3 4 7 5 6 0 8"}
  moved |= {L: "1 2 3 0 4 5 6 7 8", R: "1 2 3 4 5 0 6 7 8"}
  for action, expected in moved.items():
    np.testing.assert_array_equal(
      NPuzzle(3).apply(state, tf.constant([action])), state_of(expected)
    )


@pytest.mark.parametrize("size", SIZES)
def test_rules_equal_a_plain_version_on_random_boards(size):
  puzzle, boards = NPuzzle(size), random_boards(size, 100)
  children, valid = (part.numpy() for part in puzzle.children(tf.constant(boards)))
  for row, action in np.ndindex(valid.shape):
    expected = slide(boards[row].reshape(size, size), action)
    assert valid[row, action] == (expected is not None)
    if expected is None:
      expected = boards[row]
    np.testing.assert_array_equal(children[row, action], np.ravel(expected))


@pytest.mark.parametrize("size", SIZES)
def test_a_move_and_its_inverse_give_the_identity(size):
  puzzle, boards = NPuzzle(size), tf.constant(random_boards(size, 200))
  for action in range(4):
    moved = puzzle.apply(boards, tf.fill([200], action))
    back = puzzle.apply(moved, tf.fill([200], int(puzzle.inverse_actions[action]))).numpy()
    valid = puzzle.children(boards).valid.numpy()[:, action]
    assert 0 < valid.sum() < 200
    np.testing.assert_array_equal(back[valid], boards.numpy()[valid])


def test_only_the_ordered_board_is_solved():
  puzzle = NPuzzle(4)
  solved = puzzle.goal(state_of(" ".join(map(str, range(16)))))
  assert solved.numpy()[0].tolist() == [*range(1, 16), 0]
  assert puzzle.is_solved(solved).numpy().all()
  assert not puzzle.is_solved(puzzle.children(solved).states[0, :3:2]).numpy().any()


@pytest.mark.parametrize("size", SIZES)
def test_solvability_is_even_parity(size):
  boards = random_boards(size, 300)
  solvable = NPuzzle(size).is_solvable(tf.constant(boards)).numpy()
  assert solvable.tolist() == [is_even(board) for board in boards]
  assert 100 < solvable.sum() < 200


@pytest.mark.parametrize("size", SIZES)
def test_instances_are_solvable(size):
  boards = NPuzzle(size).instances(1, tf.range(500, dtype=tf.int64)).numpy()
  assert all(is_even(board) for board in boards)
  assert (np.sort(boards) == np.arange(size * size)).all()


@pytest.mark.parametrize("tile", [0, 1, 2, 15])
def test_instances_are_uniform(tile):
  boards = NPuzzle(4).instances(0, tf.range(20_000, dtype=tf.int64)).numpy()
  cells = np.argmax(boards == tile, axis=1)
  assert stats.chisquare(np.bincount(cells, minlength=16)).pvalue > 1e-3


def test_an_instance_that_comes_out_solved_is_drawn_again():
  puzzle = NPuzzle(3)
  episodes = tf.constant([239_957, 239_958], tf.int64)
  keys = counter_random.episode_keys("n_puzzle/instances", 0, episodes)
  first_draw = puzzle._solvable_boards(counter_random.bits(keys, 0))
  assert puzzle.is_solved(first_draw).numpy().tolist() == [False, True]
  instances = puzzle.instances(0, episodes)
  np.testing.assert_array_equal(instances[0], first_draw[0])
  assert not puzzle.is_solved(instances).numpy().any()


@pytest.mark.parametrize(("size", "moves"), [(3, 60), (4, 150), (5, 300)])
def test_trajectories_never_undo_a_move_and_end_solved(size, moves):
  puzzle = NPuzzle(size)
  states, actions, lengths = puzzle.trajectories(2, tf.range(16, dtype=tf.int64))
  assert states.shape == (16, moves + 1, size * size)
  assert actions.shape == (16, moves)
  assert lengths.numpy().tolist() == [moves + 1] * 16
  assert puzzle.is_solved(states[:, -1]).numpy().all()
  applied = puzzle.apply(tf.reshape(states[:, :-1], [-1, size * size]), tf.reshape(actions, [-1]))
  np.testing.assert_array_equal(applied, tf.reshape(states[:, 1:], [-1, size * size]))
  undone = tf.gather(puzzle.inverse_actions, actions[:, :-1]) == actions[:, 1:]
  assert not undone.numpy().any()


def test_random_walks_choose_evenly_among_the_moves_they_may_make():
  states, actions, _ = NPuzzle(3).trajectories(0, tf.range(600, dtype=tf.int64))
  # Back to the order of the walk: state w was left by the inverse of the action that leads to it.
  blanks = np.argmax(states.numpy()[:, ::-1] == 0, axis=2)[:, 1:-1]
  moves = grid.OPPOSITE_DIRECTION[actions.numpy()[:, ::-1]]
  statistic = freedom = 0
  for blank, last in np.ndindex(9, 4):
    here = (blanks == blank) & (moves[:, :-1] == last)
    counts = np.bincount(moves[:, 1:][here], minlength=4)
    allowed = grid.neighbours(3, 3)[blank] != grid.OFF_BOARD
    allowed[grid.OPPOSITE_DIRECTION[last]] = False
    assert not counts[~allowed].any()
    if here.any():
      statistic += stats.chisquare(counts[allowed]).statistic
      freedom += allowed.sum() - 1
  # One way on from a corner, two from an edge (with three ways in), three from the centre (four).
  assert freedom == 4 * 3 * (2 - 1) + 4 * (3 - 1)
  assert stats.chi2.sf(statistic, freedom) > 1e-3


def test_trajectory_moves_can_be_set():
  puzzle = NPuzzle(4, trajectory_moves=1)
  states = puzzle.trajectories(0, tf.range(200, dtype=tf.int64)).states
  assert states.shape == (200, 2, 16)
  # The blank starts in a corner with two ways out.
  assert set(np.argmax(states.numpy()[:, 0] == 0, axis=1)) == {11, 14}


@pytest.mark.parametrize("size", [2, 6, 0, -4])
def test_other_sizes_are_refused(size):
  with pytest.raises(ValueError, match=f"size must be 3, 4 or 5; got {size}"):
    NPuzzle(size)


def test_trajectories_without_moves_are_refused():
  with pytest.raises(ValueError, match="trajectory_moves must be at least 1; got 0"):
    NPuzzle(4, trajectory_moves=0)


@pytest.mark.parametrize(
  "text", ["1 2 3 4 5 6 7 0 8", "1,2,3,4,5,6,7,0,8", " 1, 2,3 4 5 6\t7 0 8 "]
)
def test_numbers_may_be_separated_by_spaces_and_commas(text):
  assert NPuzzle(3).parse_instance(text).tolist() == [1, 2, 3, 4, 5, 6, 7, 0, 8]


@pytest.mark.parametrize("size", SIZES)
def test_text_round_trip(size):
  puzzle = NPuzzle(size)
  for state in puzzle.instances(3, tf.range(20, dtype=tf.int64)).numpy():
    np.testing.assert_array_equal(puzzle.parse_instance(puzzle.format_instance(state)), state)
  assert NPuzzle(3).format_instance(np.array([1, 2, 3, 4, 5, 6, 7, 8, 0])) == "1 2 3 4 5 6 7 8 0"


def test_the_14_15_puzzle_is_unsolvable_unless_two_more_tiles_are_exchanged():
  puzzle, middle = NPuzzle(4), " 3 4 5 6 7 8 9 10 11 12 13 "
  for unsolvable in ("1 2" + middle + "15 14 0", "1 2" + middle + "15 0 14"):
    with pytest.raises(InstanceError, match=r"^unsolvable: odd permutation [^\n]*$"):
      puzzle.parse_instance(unsolvable)
  for solvable in ("2 1" + middle + "15 14 0", "1 2" + middle + "14 0 15"):
    assert puzzle.format_instance(puzzle.parse_instance(solvable)) == solvable


@pytest.mark.parametrize(
  ("text", "reason"),
  [
    ("1 2 3 4 5 6 7 8", "expected 9 numbers, got 8"),
    ("1 2 3 4 5 6 7 8 0 1", "expected 9 numbers, got 10"),
    (", ,", "expected 9 numbers, got 0"),
    ("1 2 x 4 5 6 7 8 0", "'x' at position 3 is not a number"),
    ("1 2 3.0 4 5 6 7 8 0", "'3.0' at position 3 is not a number"),
    ("1" * 5000, r"'1+\.\.\.1+' at position 1 is not a number"),
    ("1 2 3 4 5 6 7 9 0", r"number 9 at position 8 is out of range; expected 0 \(the blank\) to 8"),
    ("1 2 3 4 5 6 7 -8 0", "number -8 at position 8 is out of range"),
    ("1 2 3 4 5 2 7 8 0", "number 2 is repeated at position 6"),
    ("2 1 3 4 5 6 7 8 0", "unsolvable: odd permutation"),
  ],
)
def test_bad_text_is_refused_in_one_line(text, reason):
  with pytest.raises(InstanceError, match=reason) as error:
    NPuzzle(3).parse_instance(text)
  assert "\n" not in str(error.value)
  assert len(str(error.value)) < 120


def test_every_tile_is_drawn_in_its_place():
  ax = figure.Figure(figsize=(2, 2)).add_subplot()
  NPuzzle(3).draw(np.array([1, 0, 2, 3, 4, 5, 6, 7, 8], np.uint8), ax)
  placed = {text.get_text(): tuple(int(x) for x in text.get_position()) for text in ax.texts}
  cells = [0, 2, 3, 4, 5, 6, 7, 8]
  assert placed == {str(n): (cell % 3, cell // 3) for n, cell in enumerate(cells, start=1)}
  assert all(text.get_fontsize() >= 8 for text in ax.texts)
