"""InfoNCE in the paper's variants, on matrices of logits that may be one replica's rows of a batch.

Axes: b pairs of this replica (rows), B pairs of the whole batch (columns); b = B on one device.
"""

from typing import NamedTuple

import tensorflow as tf

# Which matrices of `Logits` a loss is the mean over.
DIRECTIONS: dict[str, tuple[str, ...]] = {
  "backward": ("backward",),
  "forward": ("forward",),
  "symmetric": ("backward", "forward"),
}


class Logits(NamedTuple):
  """Critic values over temperature. Row i belongs to pair labels[i] of the whole batch."""

  backward: tf.Tensor  # [b, B] the state of a row against all goals
  forward: tf.Tensor  # [b, B] the goal of a row against all states
  labels: tf.Tensor  # [b] int32, the column of each row's positive
  # Extra negatives, if there are any: one more column for each row.
  backward_extra: tf.Tensor | None = None  # [b] the state against its negative
  forward_extra: tf.Tensor | None = None  # [b] the goal against the negative


class Terms(NamedTuple):
  """The two terms of InfoNCE for each row; the loss is their sum."""

  alignment: tf.Tensor  # [b] minus the positive's logit: small if positives are close
  uniformity: tf.Tensor  # [b] log-sum-exp of the denominator: small if negatives are far


def contrastive_terms(
  logits: Logits, direction: str = "backward", positive_in_denominator: bool = True
) -> Terms:
  """The loss of each pair in one direction, or the mean of both.

  Args:
    logits: see `Logits`.
    direction: "backward" fixes a state and normalises over the goals, "forward" fixes a goal and
      normalises over the states, "symmetric" is the mean of both.
    positive_in_denominator: whether the positive is one of the terms that it competes with.
  """
  sides = [
    info_nce(
      getattr(logits, side),
      logits.labels,
      getattr(logits, f"{side}_extra"),
      positive_in_denominator,
    )
    for side in DIRECTIONS[check_direction(direction)]
  ]
  return Terms(*(sum(term) / len(sides) for term in zip(*sides, strict=True)))


def info_nce(
  logits: tf.Tensor,
  labels: tf.Tensor,
  extra: tf.Tensor | None = None,
  positive_in_denominator: bool = True,
) -> Terms:
  """InfoNCE of every row.

  Args:
    logits: [b, B].
    labels: [b] int32, the positive's column.
    extra: [b], the logit of one more negative for each row.
    positive_in_denominator: if False, the positive is masked out of the log-sum-exp.
  """
  positive = positive_mask(logits, labels)
  alignment = -tf.reduce_sum(tf.where(positive, logits, 0.0), axis=1)
  if not positive_in_denominator:
    # Not 0: that would leave a term exp(0) behind.
    logits = tf.where(positive, float("-inf"), logits)
  if extra is not None:
    logits = tf.concat([logits, extra[:, None]], axis=1)
  return Terms(alignment, tf.reduce_logsumexp(logits, axis=1))


def positive_mask(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
  """[b, B] bool, True at each row's label."""
  return tf.range(tf.shape(logits)[1])[None, :] == labels[:, None]


def frobenius_scale(logits_square_sum: tf.Tensor, extra_square_sum: tf.Tensor) -> tf.Tensor:
  """The factor that gives the vector of extra negatives the norm of the matrix of logits.

  It is a constant to the gradient: what the paper normalises is the size of the extra logits, and
  a gradient through the factor would also push the extra negative of one row by the logits of all
  others.

  Args:
    logits_square_sum: sum of squares over the whole B x B matrix.
    extra_square_sum: sum of squares over the whole vector of B extra negatives.
  """
  return tf.stop_gradient(tf.sqrt(tf.math.divide_no_nan(logits_square_sum, extra_square_sum)))


def check_direction(direction: str) -> str:
  """Returns `direction`, or raises ValueError if there is no such one."""
  if direction not in DIRECTIONS:
    raise ValueError(f"loss_direction must be one of {', '.join(DIRECTIONS)}; got {direction!r}.")
  return direction
