"""Parities of Lights Out against brute force."""

import itertools
import json

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import experiments, puzzles, search
from crtr_tf.experiments import parity_results

BOARD = puzzles.LightsOut(3, 3)  # Every board of 3x3 is solvable, by one set of presses.
PATTERNS = BOARD.children(tf.zeros([1, 9], tf.uint8))[0][0].numpy()  # [9, 9]


def test_slow_parities_are_all_that_brute_force_finds():
  sets = np.array(list(itertools.product([0, 1], repeat=9)))
  flips = (sets @ PATTERNS.T % 2).sum(axis=1)
  found = parity_results.slow_parities(BOARD, 2)
  assert len(found.flips) == 9 + 36
  for count in (1, 2):
    expected = {tuple(one) for one in sets[flips == count]}
    assert {tuple(one) for one in found.lights[found.flips == count]} == expected


def test_where_some_boards_cannot_be_solved_the_smallest_of_equal_sets_is_taken():
  board = puzzles.LightsOut(3, 5)  # 8 solutions for every board that has one
  patterns = board.children(tf.zeros([1, 15], tf.uint8))[0][0].numpy()
  sets = (np.arange(2**15)[:, None] >> np.arange(15)) & 1
  flipped = sets @ patterns.T % 2
  found = parity_results.slow_parities(board, 2)
  assert np.bincount(found.flips).tolist() == [0, 1, 7]
  for lights, flips in zip(*found, strict=True):
    same = (flipped == lights @ patterns.T % 2).all(axis=1)
    assert flipped[same][0].sum() == flips
    assert same.sum() == 8 and lights.sum() == sets[same].sum(axis=1).min()


def test_parities_of_single_presses_count_the_presses():
  single = parity_results.slow_parities(BOARD, 1)
  distance = parity_results.parity_distance(single, 9, discount=0.5)
  boards = BOARD.instances(0, tf.range(50, dtype=tf.int64))
  presses = [BOARD.optimal_presses(board).sum() for board in boards.numpy()]
  kept = 7 / 9
  weight = 0.5 * kept / (1 - 0.5 * kept)  # sum over k of .5^k kept^k
  found = distance(boards, tf.zeros_like(boards))
  np.testing.assert_allclose(found, weight * np.array(presses), rtol=1e-5)
  solved = search.BestFirstSolver(BOARD, distance, budget=200).solve(boards)
  np.testing.assert_array_equal(solved.lengths, presses)


@pytest.mark.slow
def test_the_page_tells_how_many_lights_are_needed(tmp_path):
  lab = experiments.Lab(tmp_path, experiments.SCALES["tiny"], say=lambda _: None)
  folder = experiments.RESULTS["lights_out_parities"].reproduce(lab, 1, tmp_path)
  parities, searches = json.loads((folder / "result.json").read_text())["tables"]
  assert parities["rows"][0][:3] == ["1", "5", "11"]
  counts = [int(row[1]) for row in searches["rows"]]
  assert counts == sorted(counts) and counts[-1] <= 5 + 72
