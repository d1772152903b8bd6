"""Complete breadth-first search against published and countable state spaces."""

import collections
import math

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.puzzles import exhaustive
from crtr_tf.puzzles.digit_jumper import DigitJumper
from crtr_tf.puzzles.lights_out import LightsOut
from crtr_tf.puzzles.n_puzzle import NPuzzle

# The number of 8-puzzle boards at each distance from the solved one: OEIS A089473.
EIGHT_PUZZLE_LAYERS = [
  *(1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529),
  *(10878, 16993, 17110, 23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2),
]


@pytest.fixture(scope="module")
def eight_puzzle() -> tuple[np.ndarray, np.ndarray]:
  solved = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 0]], np.uint8)
  return exhaustive.distances_from(NPuzzle(3), solved)


def test_the_eight_puzzle_has_its_published_distances(eight_puzzle):
  states, distances = eight_puzzle
  assert states.shape == (181_440, 9) and states.dtype == np.uint8
  assert distances.dtype == np.int32
  assert distances.max() == 31
  assert np.bincount(distances).tolist() == EIGHT_PUZZLE_LAYERS
  assert len(np.unique(states, axis=0)) == len(states)


def test_reachable_boards_are_those_of_even_parity(eight_puzzle):
  states, _ = eight_puzzle
  solvable = tf.function(NPuzzle(3).is_solvable, jit_compile=True)
  assert solvable(tf.constant(states)).numpy().all()
  with_tiles_swapped = np.array([0, 2, 1, 3, 4, 5, 6, 7, 8], np.uint8)[states]
  assert not solvable(tf.constant(with_tiles_swapped)).numpy().any()


def test_distances_of_neighbours_differ_by_one(eight_puzzle):
  states, distances = eight_puzzle
  puzzle = NPuzzle(3)
  by_hash = dict(zip(puzzle.hash(tf.constant(states)).numpy().tolist(), distances, strict=True))
  some = slice(0, len(states), 997)
  children, valid = puzzle.children(tf.constant(states[some]))
  hashes = puzzle.hash(children).numpy()
  for row, action in np.argwhere(valid.numpy()):
    assert abs(by_hash[int(hashes[row, action])] - distances[some][row]) == 1


def test_lights_out_needs_every_number_of_presses_as_often_as_there_are_sets():
  # On 3x3 every board has exactly one solution, so distances count subsets of the nine lights.
  _, distances = exhaustive.distances_from(LightsOut(3, 3), np.zeros((1, 9), np.uint8))
  assert np.bincount(distances).tolist() == [math.comb(9, presses) for presses in range(10)]


def test_one_way_moves_are_followed_forward_only():
  puzzle = DigitJumper(6, 7)
  start = puzzle.instances(0, tf.constant([4], tf.int64))
  states, distances = exhaustive.distances_from(puzzle, start.numpy())
  digits = (start.numpy()[0] % 6 + 1).tolist()
  expected, queue = {0: 0}, collections.deque([0])
  while queue:
    cell = queue.popleft()
    row, column = divmod(cell, 7)
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
      to_row, to_column = row + down * digits[cell], column + right * digits[cell]
      to = to_row * 7 + to_column
      if 0 <= to_row < 6 and 0 <= to_column < 7 and to not in expected:
        expected[to] = expected[cell] + 1
        queue.append(to)
  found = dict(zip(puzzle.players(tf.constant(states)).numpy(), distances, strict=True))
  assert found == expected
  assert len(found) < 42  # Some cells cannot be reached from the start.


def test_distances_are_to_the_nearest_source(eight_puzzle):
  puzzle, states = NPuzzle(3), eight_puzzle[0]

  def distances_by_hash(sources: np.ndarray) -> np.ndarray:
    reached, distances = exhaustive.distances_from(puzzle, sources)
    return distances[np.argsort(puzzle.hash(tf.constant(reached)).numpy())]

  near, far = states[:1], states[-1:]
  both = distances_by_hash(np.concatenate([far, near, far]))  # A duplicate must not count.
  np.testing.assert_array_equal(both, np.minimum(distances_by_hash(near), distances_by_hash(far)))


def test_a_space_that_is_too_large_is_given_up_with_a_reason():
  puzzle = NPuzzle(4)
  solved = puzzle.goal(tf.zeros([1, 16], tf.uint8)).numpy()
  message = r"n_puzzle has more than max_states = 1000 reachable states; gave up at distance \d+"
  with pytest.raises(ValueError, match=message):
    exhaustive.distances_from(puzzle, solved, max_states=1000)
