"""Critic metrics: how two representations are compared.

A critic answers in two forms that agree: similarities of all pairs (the logits of the contrastive
loss, higher is closer) and distances of matching rows (what search needs, lower is closer).

Axes: N and M representations of size d.
"""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

# Under the square root of l2: its gradient is unbounded at zero, and rounding may give less.
_SMALLEST_SQUARE = 1e-12

Comparison = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class Critic(NamedTuple):
  """The two forms of one metric."""

  similarity: Comparison  # [N, d], [M, d] -> [N, M], higher is closer
  distance: Comparison  # [N, d], [N, d] -> [N], lower is closer


def pairwise_similarity(metric: str, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  """Compares all pairs: [N, d], [M, d] -> [N, M], higher is closer.

  The dot product, or minus the distance. One matrix product, but for `l1`, which has none: outside
  of XLA it needs memory for [N, M, d].
  """
  return critic(metric).similarity(x, y)


def rowwise_distance(metric: str, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  """Compares matching rows: [N, d], [N, d] -> [N], lower is closer.

  The distance, or minus the dot product; the negative of the diagonal of `pairwise_similarity`.
  """
  return critic(metric).distance(x, y)


def critic(metric: str) -> Critic:
  """Looks a metric up. Raises ValueError for a name that is not in CRITICS."""
  if metric not in CRITICS:
    raise ValueError(f"metric must be one of {', '.join(CRITICS)}; got {metric!r}.")
  return CRITICS[metric]


def _dot_similarity(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  return tf.matmul(x, y, transpose_b=True)


def _dot_distance(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  return -tf.reduce_sum(x * y, axis=-1)


def _pairwise_squares(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  """Squared distances as |x|^2 + |y|^2 - 2 x.y; rounding can make small ones negative."""
  x_squares = tf.reduce_sum(tf.square(x), axis=-1)[:, None]
  y_squares = tf.reduce_sum(tf.square(y), axis=-1)[None, :]
  return x_squares + y_squares - 2 * _dot_similarity(x, y)


def _rowwise_squares(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  return tf.reduce_sum(tf.math.squared_difference(x, y), axis=-1)


def _root(squares: tf.Tensor) -> tf.Tensor:
  """Square root with gradient zero where the argument is not above the smallest square."""
  return tf.sqrt(tf.maximum(squares, _SMALLEST_SQUARE))


def _l1_similarity(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  return -tf.reduce_sum(tf.abs(x[:, None, :] - y[None, :, :]), axis=-1)


def _l1_distance(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
  return tf.reduce_sum(tf.abs(x - y), axis=-1)


CRITICS: dict[str, Critic] = {
  "dot": Critic(_dot_similarity, _dot_distance),
  "l2": Critic(
    lambda x, y: -_root(_pairwise_squares(x, y)), lambda x, y: _root(_rowwise_squares(x, y))
  ),
  "l2_squared": Critic(lambda x, y: -_pairwise_squares(x, y), _rowwise_squares),
  "l1": Critic(_l1_similarity, _l1_distance),
}
