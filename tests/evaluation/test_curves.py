"""Success curves against brute force, their intervals against SciPy."""

import numpy as np
import pytest
from scipy import stats

from crtr_tf.evaluation import curves


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("total", [1, 7, 1000])
def test_wilson_interval_equals_scipy(total: int, confidence: float):
  for successes in sorted({0, 1, total // 3, total - 1, total}):
    expected = stats.binomtest(successes, total).proportion_ci(confidence, method="wilson")
    low, high = curves.wilson_interval(successes, total, confidence)
    np.testing.assert_allclose((low, high), (expected.low, expected.high), atol=1e-12)
    assert 0 <= low <= successes / total <= high <= 1


def test_wilson_interval_covers_as_often_as_it_says():
  rng = np.random.default_rng(0)
  truth = rng.uniform(0.05, 0.95, size=20_000)
  low, high = curves.wilson_interval(rng.binomial(60, truth), 60)
  assert abs(np.mean((low <= truth) & (truth <= high)) - 0.95) < 0.01


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    ((1, 0), "total must be at least 1; got 0"),
    ((-1, 5), "successes must lie between 0 and total = 5; got -1"),
    ((6, 5), "successes must lie between 0 and total = 5; got 6"),
    ((2, 5, 1.0), r"confidence must lie between 0 and 1, both excluded; got 1\.0"),
  ],
)
def test_impossible_proportions_are_refused(arguments: tuple, message: str):
  with pytest.raises(ValueError, match=message):
    curves.wilson_interval(*arguments)


def test_default_budgets_are_steps_of_one_two_five_up_to_the_largest():
  expected = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 6000]
  assert curves.default_budgets(6000) == expected
  assert curves.default_budgets(5000) == expected[:-1]
  assert curves.default_budgets(11) == [10, 11]
  assert curves.default_budgets(10) == [10]
  assert curves.default_budgets(7) == [7]
  with pytest.raises(ValueError, match="max_budget must be at least 1; got 0"):
    curves.default_budgets(0)


def test_a_problem_counts_from_the_budget_it_was_solved_with():
  found = curves.success_curve([True, True, False, True], [10, 11, 3, 500], [9, 10, 11, 499, 500])
  np.testing.assert_array_equal(found.values, [0, 0.25, 0.5, 0.5, 0.75])
  np.testing.assert_array_equal(found.at, [9, 10, 11, 499, 500])


def test_success_curve_equals_counting_and_carries_its_intervals():
  rng = np.random.default_rng(1)
  solved, nodes = rng.random(300) < 0.7, rng.integers(1, 2000, 300)
  budgets = curves.default_budgets(1500)
  found = curves.success_curve(solved, nodes, budgets, confidence=0.9)
  for i, budget in enumerate(budgets):
    count = sum(bool(s) and n <= budget for s, n in zip(solved, nodes, strict=True))
    assert found.values[i] == count / 300
    np.testing.assert_allclose(
      (found.low[i], found.high[i]), curves.wilson_interval(count, 300, 0.9)
    )


def test_length_curve_is_the_empirical_distribution_scaled_by_what_was_solved():
  lengths = np.array([4, 9, 4, 12, 7])
  everything = curves.length_curve(np.ones(5, bool), lengths)
  reference = stats.ecdf(lengths).cdf
  np.testing.assert_array_equal(everything.at, [0, *reference.quantiles])
  np.testing.assert_allclose(everything.values, [0, *reference.probabilities])
  # Where one in two is not solved, whatever is written as its length, the share is half of that.
  half = curves.length_curve([True] * 5 + [False] * 5, [*lengths, 0, 1, 2, 3, 4])
  np.testing.assert_array_equal(half.at, everything.at)
  np.testing.assert_allclose(half.values, everything.values / 2)
  np.testing.assert_allclose(
    curves.length_curve([True] * 5, lengths, limits=[5, 100]).values, [0.4, 1]
  )


def test_nothing_solved_is_a_curve_too():
  found = curves.length_curve([False, False], [0, 0])
  assert found.at.tolist() == [0] and found.values.tolist() == [0]
  assert 0 == found.low[0] < found.high[0] < 1


def test_arguments_that_do_not_fit_are_refused():
  with pytest.raises(ValueError, match=r"one cost for each problem; got shapes \(2,\) and \(3,\)"):
    curves.success_curve([True, False], [1, 2, 3], [10])
  with pytest.raises(ValueError, match=r"limits must increase; got \[10, 10\]"):
    curves.success_curve([True], [1], [10, 10])
