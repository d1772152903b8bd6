"""Curves with their uncertainty: how much is solved within a budget, or with a plan so short.

Axes: P problems, K points of a curve.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

_BUDGET_STEPS = (1, 2, 5)
_SMALLEST_BUDGET = 10


class Curve(NamedTuple):
  """A line with a band around it."""

  at: np.ndarray  # [K] where, in increasing order
  values: np.ndarray  # [K] float
  low: np.ndarray  # [K] float, lower edge of the band
  high: np.ndarray  # [K] float


def wilson_interval(
  successes: ArrayLike, total: int, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
  """Wilson's score interval of a proportion: sensible also where all or none succeeded.

  Args:
    successes: a number or [K] numbers, each from 0 to total.
    total: number of trials.
    confidence: probability that such intervals cover the truth, in (0, 1).

  Returns:
    Lower and upper bounds, of the shape of `successes`.
  """
  successes = np.asarray(successes)
  if total < 1:
    raise ValueError(f"total must be at least 1; got {total}.")
  if np.any((successes < 0) | (successes > total)):
    raise ValueError(f"successes must lie between 0 and total = {total}; got {successes}.")
  if not 0 < confidence < 1:
    raise ValueError(f"confidence must lie between 0 and 1, both excluded; got {confidence}.")
  z = special.ndtri((1 + confidence) / 2)
  rate = successes / total
  shrinkage = 1 + z**2 / total
  centre = (rate + z**2 / (2 * total)) / shrinkage
  half_width = z / shrinkage * np.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2))
  # Nothing beyond 0 and 1, and rounding must not put the rate itself outside of its band.
  return np.clip(centre - half_width, 0, rate), np.clip(centre + half_width, rate, 1)


def default_budgets(max_budget: int) -> list[int]:
  """10, 20, 50, 100, ... below `max_budget`, and `max_budget` itself."""
  if max_budget < 1:
    raise ValueError(f"max_budget must be at least 1; got {max_budget}.")
  budgets, decade = [], _SMALLEST_BUDGET
  while decade < max_budget:
    budgets += [step * decade for step in _BUDGET_STEPS if step * decade < max_budget]
    decade *= 10
  return [*budgets, max_budget]


def success_curve(
  solved: ArrayLike, nodes: ArrayLike, budgets: Sequence[int], confidence: float = 0.95
) -> Curve:
  """The share of problems solved with at most so many nodes, with Wilson's intervals.

  One search with the largest budget gives the results of all smaller ones, see
  `search.SearchResult`.

  Args:
    solved: [P] bool.
    nodes: [P], those of a solved problem; any number where not solved.
    budgets: [K] increasing.
    confidence: of the intervals.
  """
  return _share_within(solved, nodes, np.asarray(budgets), confidence)


def length_curve(
  solved: ArrayLike,
  lengths: ArrayLike,
  limits: Sequence[int] | None = None,
  confidence: float = 0.95,
) -> Curve:
  """The share of all problems solved by a plan of at most so many moves: the paper's "no search".

  Args:
    solved: [P] bool.
    lengths: [P] moves of the plans; any number where not solved.
    limits: [K] increasing; by default 0 and every length that occurs, which are all the places
      where the share can change.
    confidence: of the intervals.
  """
  if limits is None:
    limits = np.unique([0, *np.asarray(lengths)[np.asarray(solved, bool)]])
  return _share_within(solved, lengths, np.asarray(limits), confidence)


def _share_within(
  solved: ArrayLike, costs: ArrayLike, limits: np.ndarray, confidence: float
) -> Curve:
  solved, costs = np.asarray(solved, bool), np.asarray(costs)
  if solved.ndim != 1 or solved.shape != costs.shape:
    raise ValueError(
      f"there must be one cost for each problem; got shapes {solved.shape} and {costs.shape}."
    )
  if np.any(np.diff(limits) <= 0):
    raise ValueError(f"limits must increase; got {limits.tolist()}.")
  # How many costs are at most a limit is where it would go in behind them.
  counts = np.searchsorted(np.sort(costs[solved]), limits, side="right")
  low, high = wilson_interval(counts, len(solved), confidence)
  return Curve(limits, counts / len(solved), low, high)
