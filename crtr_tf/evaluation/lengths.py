"""How long are the plans, and how much longer than they need be?

Axes: P problems, S cells.
"""

import functools
import os
import pathlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import ArrayLike

from crtr_tf import puzzles
from crtr_tf.puzzles import exhaustive

UNSOLVABLE = -1  # optimal length of a problem that no plan solves


class LengthSummary(NamedTuple):
  """Plan lengths of the solved problems; None where nothing was solved."""

  count: int
  mean: float | None
  median: float | None
  p10: float | None
  p90: float | None
  max: int | None


class OptimalityGap(NamedTuple):
  """Plans compared with shortest ones, over the solved problems; None where there are none."""

  count: int
  mean_excess: float | None  # moves above the optimum
  optimal_share: float | None  # of the plans that cannot be shortened


def summarize_lengths(lengths: ArrayLike, solved: ArrayLike) -> LengthSummary:
  """[P] moves of the plans and [P] bool -> their mean and quantiles."""
  plans = _of_solved(lengths, solved)
  if not len(plans):
    return LengthSummary(0, None, None, None, None, None)
  p10, median, p90 = (float(x) for x in np.percentile(plans, (10, 50, 90)))
  return LengthSummary(len(plans), float(plans.mean()), median, p10, p90, int(plans.max()))


def length_histogram(
  lengths: ArrayLike, solved: ArrayLike, most_bins: int = 30
) -> tuple[np.ndarray, np.ndarray]:
  """Counts the plans of solved problems by length, the same number of lengths in every bin.

  Args:
    lengths: [P] moves of the plans.
    solved: [P] bool.
    most_bins: how many bins there may be.

  Returns:
    counts: [K] int, K <= most_bins; of length 0 if nothing was solved.
    edges: [K + 1] float, halfway between the integers, so that no length lies on an edge.
  """
  plans = _of_solved(lengths, solved)
  if not len(plans):
    return np.zeros(0, np.int64), np.array([-0.5])
  shortest, longest = plans.min(), plans.max()
  width = -(-(longest - shortest + 1) // most_bins)
  num_bins = (longest - shortest) // width + 1
  return np.histogram(plans, bins=shortest - 0.5 + width * np.arange(num_bins + 1))


@functools.singledispatch
def optimal_lengths(puzzle: puzzles.Puzzle, states: np.ndarray) -> np.ndarray | None:
  """Moves of a shortest plan from each state, where the puzzle has an oracle that tells them.

  Args:
    puzzle: Digit Jumper, Lights Out and the 8-puzzle have one.
    states: [P, S] uint8.

  Returns:
    [P] int, UNSOLVABLE where there is no plan; None for a puzzle without an oracle.
  """
  del puzzle, states


@optimal_lengths.register
def _(puzzle: puzzles.DigitJumper, states: np.ndarray) -> np.ndarray | None:
  return puzzle.optimal_lengths(tf.constant(states)).numpy()  # its own mark is -1, too


@optimal_lengths.register
def _(puzzle: puzzles.LightsOut, states: np.ndarray) -> np.ndarray | None:
  presses = [puzzle.optimal_presses(np.asarray(state)) for state in states]
  return np.array([UNSOLVABLE if press is None else int(press.sum()) for press in presses], int)


@optimal_lengths.register
def _(puzzle: puzzles.NPuzzle, states: np.ndarray) -> np.ndarray | None:
  if puzzle.size != 3:
    return None
  known, distances = _eight_puzzle_distances()
  hashes = puzzle.hash(tf.constant(states)).numpy()
  places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
  return np.where(known[places] == hashes, distances[places], UNSOLVABLE)


@functools.cache
def _eight_puzzle_distances() -> tuple[np.ndarray, np.ndarray]:
  """Hashes [N] of all solvable boards, sorted, and their distances [N] to the solved one."""
  puzzle = puzzles.NPuzzle(3)
  solved = puzzle.goal(tf.zeros([1, puzzle.state_size], tf.uint8))
  states, distances = exhaustive.distances_from(puzzle, solved.numpy())
  hashes = puzzle.hash(tf.constant(states)).numpy()
  order = np.argsort(hashes)
  return hashes[order], distances[order]


def read_optimal_lengths(path: str | os.PathLike[str], num: int) -> np.ndarray:
  """Reads the optimal lengths of `num` problems, one integer per line, in their order: [P] int.

  Raises:
    ValueError: if a line holds anything else or the number of lines is another.
  """
  lines = pathlib.Path(path).read_text(encoding="utf-8").rstrip().splitlines()
  optimal = []
  for number, line in enumerate(lines, start=1):
    if not (line.strip().isascii() and line.strip().isdigit()):
      raise ValueError(
        f"{path}, line {number}: expected an optimal length, one integer of at least 0; "
        f"got {line!r}."
      )
    optimal.append(int(line))
  if len(optimal) != num:
    raise ValueError(f"{path}: expected {num} optimal lengths, one per line; got {len(optimal)}.")
  return np.array(optimal, int)


def optimality_gap(lengths: ArrayLike, optimal: ArrayLike, solved: ArrayLike) -> OptimalityGap:
  """Compares plans with shortest ones.

  Args:
    lengths: [P] moves of the plans.
    optimal: [P] moves of shortest plans.
    solved: [P] bool; other problems are left out.

  Raises:
    ValueError: if a plan is shorter than the "optimal" one, or solves what is said to be
      unsolvable: one of the two belongs to another problem or is wrong.
  """
  plans, best = _of_solved(lengths, solved), _of_solved(optimal, solved)
  impossible = np.flatnonzero((plans < best) | (best == UNSOLVABLE))
  if len(impossible):
    problem = int(np.flatnonzero(np.asarray(solved, bool))[impossible[0]])
    raise ValueError(
      f"no plan can be shorter than the optimal one; problem {problem} (from 0) was solved with "
      f"{plans[impossible[0]]} moves, but its optimal length is given as {best[impossible[0]]}."
    )
  if not len(plans):
    return OptimalityGap(0, None, None)
  excess = plans - best
  return OptimalityGap(len(plans), float(excess.mean()), float((excess == 0).mean()))


def _of_solved(values: ArrayLike, solved: ArrayLike) -> np.ndarray:
  """The values [P] of solved problems, as int64: unsigned ones must not wrap in differences."""
  values, solved = np.asarray(values, np.int64), np.asarray(solved, bool)
  if solved.ndim != 1 or values.shape != solved.shape:
    raise ValueError(
      f"there must be one value for each problem; got shapes {values.shape} and {solved.shape}."
    )
  return values[solved]
