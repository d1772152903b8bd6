"""Plan lengths: summaries, oracles against exhaustive search, comparison with the optimum."""

import itertools
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.evaluation import lengths
from crtr_tf.puzzles import exhaustive


def test_summary_is_of_the_solved_problems_alone():
  solved = np.array([True] * 11 + [False] * 2)
  found = lengths.summarize_lengths([*range(20, 31), 0, 999], solved)
  assert found == lengths.LengthSummary(11, mean=25.0, median=25.0, p10=21.0, p90=29.0, max=30)
  assert lengths.summarize_lengths([3, 4], [False, False]) == (0, None, None, None, None, None)
  with pytest.raises(ValueError, match=r"got shapes \(3,\) and \(2,\)"):
    lengths.summarize_lengths([1, 2, 3], [True, True])


@pytest.mark.parametrize("most_bins", [1, 7, 30])
def test_histogram_counts_every_plan_once_in_bins_of_equal_whole_width(most_bins: int):
  rng = np.random.default_rng(0)
  plans, solved = rng.integers(5, 120, 400), rng.random(400) < 0.8
  counts, edges = lengths.length_histogram(plans, solved, most_bins)
  assert counts.sum() == solved.sum() and len(counts) <= most_bins
  assert len(set(np.diff(edges))) == 1 and np.diff(edges)[0] % 1 == 0
  assert np.all(edges % 1 == 0.5) and edges[0] == plans[solved].min() - 0.5
  for count, low, high in zip(counts, edges, edges[1:], strict=False):
    assert count == np.sum((plans[solved] > low) & (plans[solved] < high))


def test_histogram_of_a_single_length_and_of_nothing():
  counts, edges = lengths.length_histogram([4, 4], [True, True])
  assert counts.tolist() == [2] and edges.tolist() == [3.5, 4.5]
  counts, edges = lengths.length_histogram([4, 4], [False, False])
  assert len(counts) == 0 and len(edges) == 1


def test_lights_out_oracle_equals_exhaustive_search():
  puzzle = puzzles.LightsOut(3, 3)
  states, distances = exhaustive.distances_from(puzzle, np.zeros((1, 9), np.uint8))
  np.testing.assert_array_equal(lengths.optimal_lengths(puzzle, states[::7]), distances[::7])


def test_lights_out_boards_without_a_solution_are_marked():
  puzzle = puzzles.LightsOut(2, 3)
  boards = np.array(list(itertools.product((0, 1), repeat=6)), np.uint8)
  reachable, _ = exhaustive.distances_from(puzzle, np.zeros((1, 6), np.uint8))
  expected = [board.tolist() not in reachable.tolist() for board in boards]
  found = lengths.optimal_lengths(puzzle, boards)
  np.testing.assert_array_equal(found == lengths.UNSOLVABLE, expected)
  assert 0 < sum(expected) < len(boards)


def test_digit_jumper_oracle_equals_exhaustive_search():
  puzzle = puzzles.DigitJumper(6, 7)
  instances = puzzle.instances(0, tf.range(5, dtype=tf.int64)).numpy()
  found = lengths.optimal_lengths(puzzle, instances)
  for instance, optimal in zip(instances, found, strict=True):
    states, distances = exhaustive.distances_from(puzzle, instance[None])
    assert distances[puzzle.is_solved(tf.constant(states)).numpy()].min() == optimal


def test_eight_puzzle_oracle_knows_the_hardest_board_and_the_impossible_one():
  puzzle = puzzles.NPuzzle(3)
  boards = np.array(
    [
      [1, 2, 3, 4, 5, 6, 7, 8, 0],
      [1, 2, 3, 4, 5, 6, 0, 7, 8],
      [8, 6, 7, 2, 5, 4, 3, 0, 1],  # one of the two that need 31 moves, the most of all
      [2, 1, 3, 4, 5, 6, 7, 8, 0],  # two tiles swapped
    ],
    np.uint8,
  )
  expected = [0, 2, 31, lengths.UNSOLVABLE]
  np.testing.assert_array_equal(lengths.optimal_lengths(puzzle, boards), expected)


@pytest.mark.parametrize("puzzle", [puzzles.NPuzzle(4), puzzles.RubiksCube(), puzzles.Sokoban()])
def test_puzzles_without_an_oracle_say_so(puzzle: puzzles.Puzzle):
  states = np.zeros((2, puzzle.state_size), np.uint8)
  assert lengths.optimal_lengths(puzzle, states) is None


def test_reads_one_integer_per_line(tmp_path: pathlib.Path):
  path = tmp_path / "optimal.txt"
  path.write_text("12\n 0 \n31\n\n")
  assert lengths.read_optimal_lengths(path, 3).tolist() == [12, 0, 31]


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("12\nx\n3\n", r"optimal\.txt, line 2: expected an optimal length.*got 'x'"),
    ("12\n-1\n3\n", r"optimal\.txt, line 2: .*at least 0; got '-1'"),
    ("12\n\n3\n", r"optimal\.txt, line 2: .*got ''"),
    ("12 13\n4\n3\n", r"optimal\.txt, line 1: .*got '12 13'"),
    ("1\n2\n", r"optimal\.txt: expected 3 optimal lengths, one per line; got 2"),
    ("1\n2\n3\n4\n", r"optimal\.txt: expected 3 optimal lengths, one per line; got 4"),
    ("", r"optimal\.txt: expected 3 optimal lengths, one per line; got 0"),
  ],
)
def test_bad_files_are_refused_by_name_and_line(tmp_path: pathlib.Path, text: str, message: str):
  path = tmp_path / "optimal.txt"
  path.write_text(text)
  with pytest.raises(ValueError, match=message):
    lengths.read_optimal_lengths(path, 3)


def test_gap_counts_moves_above_the_optimum():
  found = lengths.optimality_gap([5, 8, 0, 6], [5, 4, 9, 5], [True, True, False, True])
  assert found.count == 3
  np.testing.assert_allclose(found[1:], (5 / 3, 1 / 3))
  assert lengths.optimality_gap([0], [3], [False]) == (0, None, None)


def test_a_plan_below_the_optimum_is_an_error():
  with pytest.raises(ValueError, match=r"problem 2 \(from 0\) was solved with 4 moves.*given as 5"):
    lengths.optimality_gap([0, 5, 4], [9, 5, 5], [False, True, True])
  with pytest.raises(ValueError, match=r"problem 0 .*given as -1"):
    lengths.optimality_gap([3], [lengths.UNSOLVABLE], [True])
