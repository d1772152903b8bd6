"""Lights Out against linear algebra over GF(2) and brute force."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.puzzles import InstanceError, LightsOut, gf2, replay

# Published dimensions of the space of quiet patterns (press sets that change nothing), n x n.
QUIET_PATTERNS = {1: 0, 2: 0, 3: 0, 4: 4, 5: 2, 6: 0, 7: 0, 8: 0, 9: 8, 10: 0, 11: 6, 14: 4}


def press_matrix(puzzle: LightsOut) -> np.ndarray:
  """[S, A]: column a is what pressing a does to the dark board."""
  dark = tf.zeros([1, puzzle.state_size], tf.uint8)
  return puzzle.children(dark).states[0].numpy().T


def test_a_press_toggles_a_cross():
  puzzle = LightsOut(3, 4)
  dark = tf.zeros([3, 12], tf.uint8)
  presses = [puzzle.action_names.index(name) for name in ("1,1", "0,0", "2,3")]
  pressed = puzzle.apply(dark, tf.constant(presses))
  texts = [puzzle.format_instance(state) for state in pressed.numpy()]
  assert texts == ["0100/1110/0100", "1100/1000/0000", "0000/0001/0011"]


@pytest.mark.parametrize("size, dimension", QUIET_PATTERNS.items())
def test_quiet_patterns_have_the_published_dimension(size: int, dimension: int):
  matrix = press_matrix(LightsOut(size, size))
  basis = gf2.null_space(matrix)
  assert len(basis) == dimension
  assert not (matrix.astype(int) @ basis.T.astype(int) % 2).any()


@pytest.mark.parametrize("height, width", [(2, 2), (3, 3), (3, 4), (2, 5)])
def test_optimal_presses_equal_brute_force(height: int, width: int):
  puzzle = LightsOut(height, width)
  matrix = press_matrix(puzzle).astype(int)
  fewest: dict[bytes, int] = {}
  for presses in itertools.product((0, 1), repeat=puzzle.state_size):
    board = (matrix @ presses % 2).astype(np.uint8).tobytes()
    fewest[board] = min(fewest.get(board, puzzle.state_size), sum(presses))
  rng = np.random.default_rng(0)
  for board in rng.integers(0, 2, (100, puzzle.state_size)).astype(np.uint8):
    solution = puzzle.optimal_presses(board)
    if board.tobytes() not in fewest:
      assert solution is None
    else:
      assert solution.sum() == fewest[board.tobytes()]
      assert puzzle.is_solved(replay(puzzle, board, np.flatnonzero(solution))[-1:]).numpy().all()


@pytest.mark.parametrize("size", [4, 5, 7])
def test_instances_are_uniform_over_the_solvable_boards(size: int):
  puzzle = LightsOut(size, size)
  boards = puzzle.instances(0, tf.range(2000, dtype=tf.int64)).numpy()
  assert all(puzzle.optimal_presses(board) is not None for board in boards[:50])
  np.testing.assert_allclose(boards.mean(axis=0), 0.5, atol=0.06)


def test_tiny_boards_never_start_solved():
  puzzle = LightsOut(1, 2)
  boards = puzzle.instances(0, tf.range(200, dtype=tf.int64)).numpy()
  assert {tuple(board) for board in boards} == {(1, 1)}


def test_without_repeats_a_trajectory_presses_every_light_once():
  puzzle = LightsOut(3, 4, trajectory_moves=12, allow_repeats=False)
  _, actions, _ = puzzle.trajectories(0, tf.range(50, dtype=tf.int64))
  np.testing.assert_array_equal(np.sort(actions, axis=1), np.tile(np.arange(12), (50, 1)))
  shorter = LightsOut(3, 4, trajectory_moves=5, allow_repeats=False)
  states, actions, _ = shorter.trajectories(0, tf.range(50, dtype=tf.int64))
  assert all(len(set(presses)) == 5 for presses in actions.numpy().tolist())
  # All 12 presses are independent on this board, so a state needs as many as it has steps left.
  for step, state in enumerate(states.numpy()[0]):
    assert shorter.optimal_presses(state).sum() == 5 - step


def test_more_presses_than_lights_are_refused_without_repeats():
  with pytest.raises(ValueError, match=r"at most the number of lights, 12, .* got 13"):
    LightsOut(3, 4, trajectory_moves=13, allow_repeats=False)


BAD_BOARDS = {
  "rows": ("000/000", "3 rows joined by /; got 2"),
  "length": ("000/0000/000", "row 2 must have 3 lights; got 4"),
  "symbol": ("000/0x0/000", "unknown symbol 'x' in row 2"),
}


@pytest.mark.parametrize("name", BAD_BOARDS)
def test_bad_boards_are_refused(name: str):
  text, message = BAD_BOARDS[name]
  with pytest.raises(InstanceError, match=message):
    LightsOut(3, 3).parse_instance(text)


def test_unsolvable_boards_are_refused_where_the_size_has_them():
  puzzle = LightsOut(5, 5)
  with pytest.raises(InstanceError, match="unsolvable: no set of presses turns this 5x5 board off"):
    puzzle.parse_instance("10000/00000/00000/00000/00000")
  assert puzzle.parse_instance("11000/10000/00000/00000/00000").sum() == 3


def test_too_many_solutions_are_refused_rather_than_enumerated():
  with pytest.raises(ValueError, match=r"2\^30 solutions"):
    gf2.lightest_solution(np.zeros((1, 30), np.uint8), np.zeros(1, np.uint8))


def test_bad_arguments_are_refused():
  with pytest.raises(ValueError, match="height must be at least 1; got 0"):
    LightsOut(height=0)
