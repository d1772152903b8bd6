"""Digit Jumper against slow, obvious versions of its rules, distances and random boards.

What all puzzles share (shapes, XLA, batches of one, text round trips) is in test_contract.py.
"""

import collections
import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf
from matplotlib import figure
from scipy import stats

from crtr_tf.puzzles import NO_ACTION, InstanceError
from crtr_tf.puzzles.digit_jumper import MAX_DIGIT, PLAYER, UNREACHABLE, DigitJumper

DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
SHAPES = [(2, 2), (2, 5), (4, 4), (7, 5), (9, 9)]


def random_states(height: int, width: int, count: int) -> np.ndarray:
  """Boards with the player anywhere, many of them unsolvable: [count, H * W] uint8."""
  rng = np.random.default_rng([height, width])
  states = rng.integers(MAX_DIGIT, size=(count, height * width), dtype=np.uint8)
  states[np.arange(count), rng.integers(height * width, size=count)] += PLAYER
  return states


def landing(cell: int, digit: int, direction: int, shape: tuple[int, int]) -> int | None:
  """The cell where a jump ends, None if that is not on the board."""
  row = cell // shape[1] + digit * DIRECTIONS[direction][0]
  column = cell % shape[1] + digit * DIRECTIONS[direction][1]
  on_board = 0 <= row < shape[0] and 0 <= column < shape[1]
  return row * shape[1] + column if on_board else None


def distance_to_target(state: np.ndarray, cell: int, shape: tuple[int, int]) -> int:
  """Breadth-first search from one cell."""
  distances, queue = {cell: 0}, collections.deque([cell])
  while queue:
    here = queue.popleft()
    if here == len(state) - 1:
      return distances[here]
    for direction in range(4):
      to = landing(here, int(state[here]) % PLAYER + 1, direction, shape)
      if to is not None and to not in distances:
        distances[to] = distances[here] + 1
        queue.append(to)
  return UNREACHABLE


@pytest.fixture(scope="module")
def planted() -> tuple[DigitJumper, np.ndarray, np.ndarray, np.ndarray]:
  """A puzzle with trajectories of it: states [B, T, S], actions [B, T - 1], lengths [B]."""
  puzzle = DigitJumper(8, 9)
  parts = puzzle.trajectories(0, tf.range(2000, dtype=tf.int64))
  return puzzle, *(part.numpy() for part in parts)


def test_jumps_go_as_far_as_the_digit_below_the_player():
  puzzle = DigitJumper(3, 4)
  state = puzzle.parse_instance("1111/1211/1111 @1,1")
  children, valid = puzzle.children(tf.constant(state[None]))
  assert valid.numpy().tolist() == [[False, False, False, True]]  # U, D and L leave the board.
  assert puzzle.format_instance(children.numpy()[0, 3]) == "1111/1211/1111 @1,3"
  assert puzzle.format_instance(children.numpy()[0, 0]) == "1111/1211/1111 @1,1"


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_equal_a_plain_version_on_random_boards(shape):
  puzzle, states = DigitJumper(*shape), random_states(*shape, 60)
  children, valid = (part.numpy() for part in puzzle.children(tf.constant(states)))
  for row, action in np.ndindex(valid.shape):
    player = int(np.argmax(states[row]))
    to = landing(player, int(states[row, player]) - PLAYER + 1, action, shape)
    assert valid[row, action] == (to is not None)
    expected = states[row].copy()
    expected[player] -= PLAYER
    expected[player if to is None else to] += PLAYER
    np.testing.assert_array_equal(children[row, action], expected)


def test_the_goal_keeps_the_digits_and_moves_the_player():
  puzzle, states = DigitJumper(5, 6), random_states(5, 6, 40)
  goals = puzzle.goal(tf.constant(states)).numpy()
  np.testing.assert_array_equal(goals % PLAYER, states % PLAYER)
  np.testing.assert_array_equal(np.argwhere(goals >= PLAYER), [[row, 29] for row in range(40)])
  assert puzzle.is_solved(tf.constant(goals)).numpy().all()
  solved = puzzle.is_solved(tf.constant(states)).numpy()
  np.testing.assert_array_equal(solved, np.argmax(states, axis=1) == 29)


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_distances_equal_a_search_from_every_cell(shape):
  puzzle, states = DigitJumper(*shape), random_states(*shape, 20)
  distances = puzzle.exact_distances(tf.constant(states))
  assert distances.dtype == tf.int32
  expected = [
    [distance_to_target(state, cell, shape) for cell in range(len(state))] for state in states
  ]
  np.testing.assert_array_equal(distances, expected)
  assert 0 < np.mean(np.array(expected) == UNREACHABLE) < 1
  lengths = puzzle.optimal_lengths(tf.constant(states)).numpy()
  np.testing.assert_array_equal(
    lengths, np.array(expected)[np.arange(20), np.argmax(states, axis=1)]
  )
  compiled = tf.function(puzzle.exact_distances, jit_compile=True)
  np.testing.assert_array_equal(compiled(tf.constant(states)), expected)


@pytest.mark.parametrize("shape", [*SHAPES, (20, 20), (3, 30)])
def test_instances_start_at_the_top_left_and_are_solvable(shape):
  puzzle = DigitJumper(*shape)
  states = puzzle.instances(1, tf.range(300, dtype=tf.int64))
  assert (puzzle.players(states).numpy() == 0).all()
  lengths = puzzle.optimal_lengths(states).numpy()
  rows_and_columns = -(-(shape[0] - 1) // MAX_DIGIT) - (-(shape[1] - 1) // MAX_DIGIT)
  assert lengths.min() >= rows_and_columns
  assert (puzzle.exact_distances(states).numpy()[:, 0] == lengths).all()


def test_planted_paths_are_jumps_without_loops(planted):
  _, states, actions, lengths = planted
  for row in range(200):
    cells = np.argmax(states[row], axis=1)[: lengths[row]].tolist()
    assert cells[0] == 0 and cells[-1] == 71
    assert len(set(cells)) == len(cells)
    digits = states[row, 0] % PLAYER + 1
    for time, (cell, to) in enumerate(itertools.pairwise(cells)):
      assert landing(cell, int(digits[cell]), actions[row, time], (8, 9)) == to
    assert (actions[row, len(cells) - 1 :] == NO_ACTION).all()


def test_planted_paths_are_no_shorter_than_the_shortest(planted):
  puzzle, states, _, lengths = planted
  shortest = puzzle.optimal_lengths(tf.constant(states[:, 0])).numpy()
  assert (shortest >= 3).all()
  assert (lengths - 1 >= shortest).all()
  assert (lengths - 1 > shortest).any()


def test_digits_off_the_path_are_uniform(planted):
  _, states, _, _ = planted
  left = (states >= PLAYER).any(axis=1)  # [B, S]
  left[:, -1] = False  # The path never leaves the target.
  digits = states[:, 0] % PLAYER
  assert stats.chisquare(np.bincount(digits[~left], minlength=MAX_DIGIT)).pvalue > 1e-3
  assert stats.chisquare(np.bincount(digits[:, -1], minlength=MAX_DIGIT)).pvalue > 1e-3


def jumps_of(cell: int, shape: tuple[int, int]) -> list[int]:
  """All cells within reach of any digit."""
  landings = [landing(cell, digit, way, shape) for digit in range(1, 7) for way in range(4)]
  return [to for to in landings if to is not None]


def loop_erased_walks(
  path: tuple[int, ...], probability: float, shape: tuple[int, int]
) -> Iterator[tuple[tuple[int, ...], float]]:
  """Every simple path to the target that continues `path`, with its exact probability.

  A loop-erased walk moves on from its tip with the chance of a step times the expected number of
  visits to the tip by a walk that is killed on the earlier path and at the target.
  """
  target = shape[0] * shape[1] - 1
  if path[-1] == target:
    yield path, probability
    return
  alive = [cell for cell in range(target) if cell not in path[:-1]]
  steps = np.zeros((target + 1, target + 1))
  for cell in alive:
    for to in jumps_of(cell, shape):
      steps[cell, to] += 1 / len(jumps_of(cell, shape))
  inner = steps[np.ix_(alive, alive)]
  tip = alive.index(path[-1])
  visits = np.linalg.inv(np.eye(len(alive)) - inner)[tip, tip]
  for to in set(jumps_of(path[-1], shape)) - set(path):
    chance = probability * visits * steps[path[-1], to]
    yield from loop_erased_walks((*path, to), chance, shape)


def test_paths_have_the_law_of_loop_erased_random_walks():
  law = dict(loop_erased_walks((0,), 1.0, (2, 3)))
  assert sum(law.values()) == pytest.approx(1)
  count = 20_000
  puzzle = DigitJumper(2, 3, max_trajectory_states=6)
  states, _, lengths = puzzle.trajectories(0, tf.range(count, dtype=tf.int64))
  cells = np.argmax(states.numpy(), axis=2).tolist()
  drawn = collections.Counter(
    tuple(path[:length]) for path, length in zip(cells, lengths.numpy(), strict=True)
  )
  assert set(drawn) <= set(law)
  expected = [count * law[path] for path in law]
  assert stats.chisquare([drawn[path] for path in law], expected).pvalue > 1e-3


def test_paths_that_are_too_long_are_drawn_again_and_the_others_kept():
  episodes = tf.range(400, dtype=tf.int64)
  free, capped = DigitJumper(6, 6), DigitJumper(6, 6, max_trajectory_states=12)
  states, _, lengths = (part.numpy() for part in free.trajectories(0, episodes))
  capped_states, _, capped_lengths = (part.numpy() for part in capped.trajectories(0, episodes))
  fits = lengths <= 12
  assert 0.02 < np.mean(~fits) < 0.5
  np.testing.assert_array_equal(capped_states[fits], states[fits, :12])
  assert capped_states.shape == (400, 12, 36)
  assert (capped_states[:, -1, -1] >= PLAYER).all()
  assert (capped_lengths[~fits] < lengths[~fits]).all()
  # A row that had to be drawn again is the same alone.
  again = int(np.flatnonzero(~fits)[0])
  alone = capped.trajectories(0, episodes[again : again + 1])
  np.testing.assert_array_equal(alone.states[0], capped_states[again])


def test_default_length_holds_practically_all_paths_of_the_paper_size():
  puzzle = DigitJumper()
  assert puzzle.max_trajectory_states == 100
  lengths = puzzle.trajectories(0, tf.range(1000, dtype=tf.int64)).lengths.numpy()
  assert 29 < lengths.mean() < 34
  assert np.quantile(lengths, 0.99) < 80


@pytest.mark.parametrize(("height", "width"), [(1, 5), (5, 1), (0, 0)])
def test_boards_of_one_row_are_refused(height, width):
  message = f"height and width must be at least 2; got {height} and {width}"
  with pytest.raises(ValueError, match=message):
    DigitJumper(height, width)


def test_a_length_that_fits_few_paths_is_refused():
  message = r"max_trajectory_states must be at least height \+ width = 40; got 39"
  with pytest.raises(ValueError, match=message):
    DigitJumper(20, 20, max_trajectory_states=39)


@pytest.mark.parametrize(
  ("text", "player"),
  [("121/111", 0), ("121/111 @0,0", 0), ("121/111 @1,0", 3), (" 121/111@ 0 , 2 ", 2)],
)
def test_text_is_read(text, player):
  state = DigitJumper(2, 3).parse_instance(text)
  assert (state % PLAYER).tolist() == [0, 1, 0, 0, 0, 0]
  assert np.flatnonzero(state >= PLAYER).tolist() == [player]


def test_the_player_is_written_only_away_from_the_start():
  puzzle = DigitJumper(2, 3)
  for text in ("121/111", "121/111 @1,0", "121/111 @1,2"):
    assert puzzle.format_instance(puzzle.parse_instance(text)) == text


@pytest.mark.parametrize(
  ("text", "reason"),
  [
    ("121", "expected 2 rows joined by '/', got 1"),
    ("121/111/111", "expected 2 rows joined by '/', got 3"),
    ("121/11", r"row 1 \(from 0\) needs 3 digits; got 2"),
    ("/111", r"row 0 \(from 0\) needs 3 digits; got 0"),
    ("121/171", r"unknown symbol '7' at row 1, column 1 \(from 0\); expected one of 123456"),
    ("120/111", "unknown symbol '0' at row 0, column 2"),
    ("12x/111", "unknown symbol 'x' at row 0, column 2"),
    ("121/111 @", "bad player position ''; expected '@row,column'"),
    ("121/111 @1", "bad player position '1'"),
    ("121/111 @a,b", "bad player position 'a,b'"),
    ("121/111 @-1,0", "bad player position '-1,0'"),
    ("121/111 @1,1 @0,0", "bad player position"),
    ("121/111 @2,0", "player position 2,0 is off the 2x3 board"),
    ("121/111 @0,3", "player position 0,3 is off the 2x3 board"),
    ("666/666", "unsolvable: the target cannot be reached"),
    ("161/161 @0,1", "unsolvable: the target cannot be reached"),
  ],
)
def test_bad_text_is_refused_in_one_line(text, reason):
  with pytest.raises(InstanceError, match=reason) as error:
    DigitJumper(2, 3).parse_instance(text)
  assert "\n" not in str(error.value)


def test_the_drawing_shows_digits_player_and_target():
  puzzle = DigitJumper(3, 4)
  ax = figure.Figure(figsize=(2, 2)).add_subplot()
  puzzle.draw(puzzle.parse_instance("1234/1111/6151 @1,2"), ax)
  drawn = {}
  for line in ax.lines:
    for column, row in zip(*line.get_data(), strict=True):
      drawn[int(row), int(column)] = line.get_marker()
  board = ["1234", "1111", "6151"]
  assert drawn == {(row, column): f"${board[row][column]}$" for row, column in np.ndindex(3, 4)}
  player, target = ax.patches
  assert tuple(player.center) == (2, 1)
  assert target.get_xy() == (2.5, 1.5)
