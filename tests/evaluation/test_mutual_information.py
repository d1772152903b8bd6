"""Estimates of mutual information where the truth has a closed form."""

import numpy as np
import pytest
from sklearn import decomposition, feature_selection, preprocessing

from crtr_tf.evaluation import mutual_information as mi
from tests.evaluation.toy_trajectories import padded


def gaussian(covariance: np.ndarray, num: int = 4000, seed: int = 0) -> np.ndarray:
  rng = np.random.default_rng(seed)
  return rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=num)


def half_log_det(covariance: np.ndarray, *groups: list[int]) -> float:
  """Entropy of a group of Gaussian variables, up to what cancels in mutual information."""
  columns = np.concatenate(groups)
  return 0.5 * np.linalg.slogdet(covariance[np.ix_(columns, columns)])[1]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, -0.99])
@pytest.mark.parametrize("k", [3, 10])
def test_correlated_gaussians_have_their_closed_form(correlation: float, k: int):
  x, y = gaussian(np.array([[1, correlation], [correlation, 1]])).T
  expected = -0.5 * np.log(1 - correlation**2)
  assert abs(mi.mutual_information(x, y, k) - expected) < 0.05


@pytest.mark.parametrize("k", [3, 10])
def test_gaussian_vectors_given_a_third_have_their_closed_form(k: int):
  x, y, c = [0, 1], [2, 3], [4]
  mixing = np.random.default_rng(3).normal(size=(5, 5))
  covariance = mixing @ mixing.T / 5 + 0.3 * np.eye(5)
  samples = gaussian(covariance)
  expected = (
    half_log_det(covariance, x, c)
    + half_log_det(covariance, y, c)
    - half_log_det(covariance, c)
    - half_log_det(covariance, x, y, c)
  )
  found = mi.conditional_mutual_information(samples[:, x], samples[:, y], samples[:, c], k)
  assert expected > 0.3
  assert abs(found - expected) < 0.08


def test_what_the_condition_explains_is_no_information():
  rng = np.random.default_rng(0)
  common = rng.normal(size=4000)
  x, y = common + 0.5 * rng.normal(size=(2, 4000))
  # Two noisy copies: the correlation is 0.8 as long as one does not know what they are copies of.
  assert abs(mi.mutual_information(x, y) + 0.5 * np.log(1 - 0.8**2)) < 0.05
  assert abs(mi.conditional_mutual_information(x, y, common)) < 0.05


def test_a_condition_can_create_information():
  rng = np.random.default_rng(0)
  x, y, noise = rng.normal(size=(3, 4000))
  c = x + y + 0.5 * noise
  # Given c, x and y are correlated by minus the share of their variance that the noise leaves.
  covariance = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2.25]])
  expected = half_log_det(covariance, [0, 2]) * 2 - half_log_det(covariance, [2])
  expected -= half_log_det(covariance, [0, 1, 2])
  assert abs(mi.mutual_information(x, y)) < 0.03
  assert abs(mi.conditional_mutual_information(x, y, c) - expected) < 0.06


def test_equals_scikit_learn_in_one_dimension():
  x, y = gaussian(np.array([[1, 0.7], [0.7, 1]]), num=500).T
  y = y**3
  # That of scikit-learn brings its variables to unit variance first.
  x, y = x / x.std(), y / y.std()
  expected = feature_selection.mutual_info_regression(x[:, None], y, n_neighbors=4)
  np.testing.assert_allclose(mi.mutual_information(x, y, k=4), expected[0], atol=1e-6)


def test_units_do_not_matter():
  x, y, c = gaussian(np.array([[1, 0.6, 0.3], [0.6, 1, 0.3], [0.3, 0.3, 1]])).T
  plain = mi.conditional_mutual_information(x, y, c)
  same_units = mi.conditional_mutual_information(1000 * x, 1000 * y + 7, 1000 * c)
  np.testing.assert_allclose(same_units, plain, atol=1e-3)
  other_units = mi.conditional_mutual_information(3 * x, -y / 3, 2 * c)
  assert abs(other_units - plain) < 0.05
  np.testing.assert_allclose(mi.conditional_mutual_information(y, x, c), plain, atol=1e-6)


def test_ties_are_broken_in_the_same_way_every_time():
  x = np.repeat(np.arange(50.0), 10)
  found = [mi.mutual_information(x, x, k=3) for _ in range(2)]
  assert np.isfinite(found[0]) and found[0] == found[1]


def test_arguments_that_do_not_fit_are_refused():
  x = np.arange(5.0)
  with pytest.raises(ValueError, match="less than the number of rows, 5; got 5"):
    mi.mutual_information(x, x, k=5)
  with pytest.raises(ValueError, match=r"as many rows; got \[5, 5, 4\]"):
    mi.conditional_mutual_information(x, x, x[:4])


def walks(memory: float, context: float, num: int = 40, length: int = 60, size: int = 3) -> list:
  """Stationary random walks [length, size], each around a place of its own."""
  rng = np.random.default_rng(0)
  trajectories = []
  for _ in range(num):
    states = [rng.normal(size=size)]
    for _ in range(length - 1):
      states.append(memory * states[-1] + np.sqrt(1 - memory**2) * rng.normal(size=size))
    trajectories.append(np.array(states) + context * rng.normal(size=size))
  return trajectories


def test_independent_steps_have_no_information_whatever_their_context():
  found = mi.representation_cmi(lambda x: x, padded(walks(memory=0, context=0)), ks=[5])
  assert abs(found[5]) < 0.1
  steps = walks(memory=0, context=20)
  unconditional = mi.mutual_information(
    np.concatenate([states[:-1] for states in steps]),
    np.concatenate([states[1:] for states in steps]),
  )
  conditional = mi.representation_cmi(lambda x: x, padded(steps), ks=[5])[5]
  assert unconditional > 2 > 0.3 > abs(conditional)


def test_memory_is_information():
  found = mi.representation_cmi(lambda x: x, padded(walks(0.8, context=0, size=1)), ks=[5])
  assert abs(found[5] + 0.5 * np.log(1 - 0.8**2)) < 0.1
  by_memory = [
    mi.representation_cmi(lambda x: x, padded(walks(memory, context=0)), ks=[5])[5]
    for memory in (0.5, 0.8, 0.95)
  ]
  assert 0 < by_memory[0] < by_memory[1] < by_memory[2]


def test_transitions_codes_and_components_are_those_of_the_paper():
  lengths = [30, 50, 20]
  steps = [states[:n] for states, n in zip(walks(0.9, 1, size=5), lengths, strict=False)]
  found = mi.representation_cmi(lambda x: x, padded(steps), ks=[3, 6], seed=4)
  steps = [states.astype(np.float32).astype(np.float64) for states in steps]  # as embedded
  now = np.concatenate([states[:-1] for states in steps])
  later = np.concatenate([states[1:] for states in steps])
  scaler = preprocessing.StandardScaler().fit(now)
  components = decomposition.PCA(3).fit(scaler.transform(now))
  x, y = (components.transform(scaler.transform(points)) for points in (now, later))
  codes = np.random.default_rng(4).normal(size=(3, 2))
  c = np.repeat(codes, [29, 49, 19], axis=0)
  for k in (3, 6):
    expected = mi.conditional_mutual_information(x, y, c, k)
    # A step is as long seen from its end as from its start: such ties fall as the noise does, and
    # so with the signs of the components.
    np.testing.assert_allclose(found[k], expected, atol=3e-3)


def test_a_number_that_never_changes_does_no_harm():
  steps = [np.hstack([states, np.ones((len(states), 1))]) for states in walks(0.8, 0)]
  without = mi.representation_cmi(lambda x: x[:, :3], padded(steps), ks=[5])
  np.testing.assert_allclose(
    mi.representation_cmi(lambda x: x, padded(steps), ks=[5])[5], without[5]
  )
