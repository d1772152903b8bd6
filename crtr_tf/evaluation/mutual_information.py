"""Mutual information of successive representations, given the trajectory they come from.

What the paper's theory says of CRTR is that it learns I(X; X+ | C), the information about time, and
not the context C alone. Estimates are by nearest neighbours (Kraskov, Stögbauer and Grassberger
2004; with a condition: Frenzel and Pompe 2007), in nats; divide by log 2 for bits.

For every point, the k-th nearest neighbour in the joint space sets a radius, in the maximum norm;
how many neighbours lie within that radius in each of the marginal spaces tells how much denser the
joint distribution is than independence would make it. Sharing one radius lets the errors of the
entropies cancel.

Axes: N samples, d their numbers.
"""

from collections.abc import Sequence

import numpy as np
from scipy import spatial, special

from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation.representations import EmbedFn, PrincipalAxes, represent

_MAXIMUM_NORM = np.inf
_NOISE = 1e-10  # relative to the spread of a variable
_NOISE_SEED = 0

# As in the paper: k-nearest-neighbour estimates are only good in few dimensions.
_STATE_DIMENSIONS = 3
_CONTEXT_DIMENSIONS = 2


def mutual_information(x: np.ndarray, y: np.ndarray, k: int = 3) -> float:
  """Estimates I(X; Y) of continuous variables.

  Args:
    x, y: [N, d] each, or [N]; d may differ. Their scales should not differ by much.
    k: neighbours; more of them mean less variance and more bias.

  Returns:
    Nats. Estimates scatter around the truth, so independent variables can give less than 0.
  """
  x, y = _prepare([x, y], k)
  radii = _neighbour_distances(np.hstack([x, y]), k)
  marginals = _mean_digamma(x, radii) + _mean_digamma(y, radii)
  return float(special.digamma(k) + special.digamma(len(x)) - marginals)


def conditional_mutual_information(
  x: np.ndarray, y: np.ndarray, c: np.ndarray, k: int = 3
) -> float:
  """Estimates I(X; Y | C) of continuous variables: see `mutual_information`.

  Args:
    x, y, c: [N, d] each, or [N]; d may differ.
    k: neighbours.
  """
  x, y, c = _prepare([x, y, c], k)
  radii = _neighbour_distances(np.hstack([x, y, c]), k)
  with_context = _mean_digamma(np.hstack([x, c]), radii) + _mean_digamma(np.hstack([y, c]), radii)
  return float(special.digamma(k) + _mean_digamma(c, radii) - with_context)


def representation_cmi(
  embed: EmbedFn,
  trajectories: TrajectoryBatch,
  ks: Sequence[int] = (3, 5, 10, 20),
  seed: int = 0,
) -> dict[int, float]:
  """The paper's conditional mutual information of successive representations.

  X is the representation of a state and X+ that of the next one, for all transitions; both are
  standardised and then projected to three principal components by what X alone determines. C is
  the trajectory: each has a code drawn from a normal distribution in two dimensions.

  Read it as a comparison of models on the same trajectories, not as an amount. Where steps are
  large beside the distances between codes, trajectories mix and some context counts as information;
  where successive states are close, samples are too few, and the estimate is below the truth.

  Args:
    embed: states -> representations.
    trajectories: the paper takes those of more than 20,000 transitions.
    ks: numbers of neighbours.
    seed: of the codes.

  Returns:
    For every k, the estimate in nats.
  """
  found = represent(embed, trajectories)
  now = np.flatnonzero(found.steps_left > 0)
  points = found.points.astype(np.float64)
  mean, spread = points[now].mean(axis=0), points[now].std(axis=0)
  points = (points - mean) / np.where(spread > 0, spread, 1)
  components = PrincipalAxes.of(points[now], _STATE_DIMENSIONS).project(points)
  codes = np.random.default_rng(seed).normal(size=(len(trajectories.lengths), _CONTEXT_DIMENSIONS))
  x, next_x, c = components[now], components[now + 1], codes[found.owners[now]]
  return {k: conditional_mutual_information(x, next_x, c, k) for k in ks}


def _prepare(variables: Sequence[np.ndarray], k: int) -> list[np.ndarray]:
  """Makes columns [N, d] of the variables, with noise against ties that is always the same."""
  columns = [np.asarray(one, np.float64).reshape(len(one), -1) for one in variables]
  num = len(columns[0])
  if any(len(one) != num for one in columns):
    raise ValueError(f"variables must have as many rows; got {[len(one) for one in columns]}.")
  if not 1 <= k < num:
    raise ValueError(f"k must be at least 1 and less than the number of rows, {num}; got {k}.")
  rng = np.random.default_rng(_NOISE_SEED)
  # The estimator supposes densities: equal points (the same state in two trajectories, the code of
  # a trajectory) would be at distance 0 of each other.
  return [one + _NOISE * _spread(one) * rng.normal(size=one.shape) for one in columns]


def _spread(columns: np.ndarray) -> float:
  """Of all columns together, so that all are moved by the same measure; 1 for a constant."""
  return float(columns.std(axis=0).max()) or 1.0


def _neighbour_distances(points: np.ndarray, k: int) -> np.ndarray:
  """The distance of each point [N, d] to its k-th neighbour: [N]."""
  # The nearest point of all is the point itself.
  return spatial.cKDTree(points).query(points, [k + 1], p=_MAXIMUM_NORM)[0][:, 0]


def _mean_digamma(points: np.ndarray, radii: np.ndarray) -> float:
  """Mean of digamma(n + 1), n neighbours being nearer than the radius [N]: the point is the 1."""
  counts = spatial.cKDTree(points).query_ball_point(
    points, np.nextafter(radii, 0), p=_MAXIMUM_NORM, return_length=True
  )
  return float(special.digamma(counts).mean())
