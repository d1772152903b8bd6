"""What is shown of several seeds, and of searches that solved nothing."""

import numpy as np

from crtr_tf.evaluation.curves import Curve
from crtr_tf.evaluation.evaluate import Solved
from crtr_tf.experiments import success_results


def curve(*values: float) -> Curve:
  points = np.array(values)
  return Curve(np.arange(len(points)), points, points - 1, points + 1)


def test_seeds_are_shown_by_their_mean_and_its_standard_error():
  found = success_results.over_seeds([curve(0.0, 0.2), curve(0.0, 0.4), curve(0.0, 0.9)])
  np.testing.assert_allclose(found.values, [0, 0.5])
  error = np.std([0.2, 0.4, 0.9], ddof=1) / np.sqrt(3)
  np.testing.assert_allclose(found.high - found.values, [0, error])
  np.testing.assert_allclose(found.values - found.low, [0, error])


def test_a_single_seed_keeps_its_own_band():
  one = curve(0.0, 0.5)
  assert success_results.over_seeds([one]) is one


def test_outcomes_of_a_key_come_in_the_order_of_seeds():
  outcomes = {("a", 0): 10, ("b", 0): 20, ("a", 1): 11, ("a", "x", 0): 30}
  assert success_results.seeds_of(outcomes, "a") == [10, 11]
  assert success_results.seeds_of(outcomes, "a", "x") == [30]
  assert success_results.seeds_of(outcomes) == []


def test_success_is_counted_within_each_budget():
  solved = np.array([True, True, False, True])
  one = Solved(solved, np.array([1, 2, 0, 3]), np.array([10, 60, 100, 100]), 1.0, "hash")
  found = success_results.success_by_budget([one], budget=100)
  assert found.at.tolist() == [10, 20, 50, 100]
  assert found.values.tolist() == [0.25, 0.25, 0.25, 0.75]
  assert success_results.rate([one, one]) == "0.75 ± 0.00"
