"""Several processes make what one process makes."""

import pickle

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.puzzles import parallel

EPISODES = [5, 3, 900, 4, 17, 18, 19]
PUZZLE = puzzles.Sokoban(height=8, width=8, num_boxes=2)


@pytest.mark.parametrize("num_processes", [1, 2])
def test_the_number_of_processes_does_not_matter(num_processes: int):
  expected = PUZZLE.trajectories(1, tf.constant(EPISODES, tf.int64))
  made = parallel.generate_trajectories(PUZZLE, 1, EPISODES, num_processes, chunk_episodes=2)
  for part, whole in zip(made, expected, strict=True):
    np.testing.assert_array_equal(part, whole)


def test_chunks_come_one_by_one():
  puzzle = puzzles.LightsOut()
  chunks = parallel.iterate_trajectories(puzzle, 0, range(10), num_processes=1, chunk_episodes=4)
  assert [len(chunk.lengths) for chunk in chunks] == [4, 4, 2]


def test_no_episodes_give_empty_trajectories():
  made = parallel.generate_trajectories(PUZZLE, 0, [], num_processes=2)
  assert made.states.shape == (0, 150, 64) and made.lengths.shape == (0,)
  assert list(parallel.iterate_trajectories(PUZZLE, 0, [], num_processes=2)) == []


@pytest.mark.parametrize("name", puzzles.PUZZLES)
def test_every_puzzle_can_be_sent_to_a_process(name: str):
  puzzle = puzzles.PUZZLES[name]()
  sent = pickle.loads(pickle.dumps(puzzle))
  assert vars(sent).keys() == vars(puzzle).keys()
  assert puzzles.describe(sent) == puzzles.describe(puzzle)


def test_a_puzzle_that_was_used_can_be_sent_to_a_process():
  puzzle = puzzles.DigitJumper(height=4, width=4)
  episodes = tf.constant([3], tf.int64)
  expected = puzzle.trajectories(0, episodes)  # compiles, which must not stick to the puzzle
  sent = pickle.loads(pickle.dumps(puzzle))
  np.testing.assert_array_equal(sent.trajectories(0, episodes).states, expected.states)


def test_bad_numbers_are_refused():
  with pytest.raises(ValueError, match="num_processes must be at least 1; got 0"):
    parallel.generate_trajectories(PUZZLE, 0, [1], num_processes=0)
  with pytest.raises(ValueError, match="chunk_episodes must be at least 1; got 0"):
    parallel.iterate_trajectories(PUZZLE, 0, [1], num_processes=1, chunk_episodes=0)
