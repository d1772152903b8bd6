"""Contrastive representations: CRL and CRTR, which differ in their batches alone."""

import math
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from crtr_tf.models import critics, losses, replicas
from crtr_tf.models.base import Batch, HeuristicModel, Statistic, build_once, states_of
from crtr_tf.models.encoders import Encoder

STATISTICS = (
  "accuracy_backward",  # a state finds its goal among all goals
  "accuracy_forward",  # a goal finds its state among all states
  "alignment",  # the two terms of the loss
  "uniformity",
  "logit_positive",  # mean logits of a state with its own goal,
  "logit_in_trajectory",  # with other goals of its trajectory (0 if there are none),
  "logit_cross_trajectory",  # and with goals of other trajectories
)


@keras.saving.register_keras_serializable(package="crtr_tf")
class ContrastiveModel(HeuristicModel):
  """One encoder for states and goals, trained so that pairs of a trajectory are close.

  Batches are dicts as `data.contrastive_batches` gives them: `states` and `goals` [B, S], `groups`
  [B] equal where rows come from the same trajectory, and for the paper's alternative to repetition
  `negatives` [B, S], each compared with its own row alone. Untrained, it is the `random` baseline.

  All states of a batch pass through the encoder together; BatchNorm takes its statistics over all.

  Args:
    encoder: states [N, S] -> representations [N, d].
    metric: how representations are compared, see `critics`.
    loss_direction: "backward", "forward" or "symmetric", see `losses`. Extra negatives stand for
      goals in the first, where they are compared with the state, and for states in the second.
    temperature: what logits are divided by; sqrt(d) if None.
    positive_in_denominator: False leaves the positive out of the loss's denominator.
    normalize_negatives: scales the extra negatives' logits, see `losses.frobenius_scale`. Together
      with positive_in_denominator=False this is the paper's normalised variant.
    global_negatives: under several replicas, whether each row is compared with the rows of all
      replicas; the loss is then that of one device with the whole batch.
    **kwargs: of `keras.Model`.
  """

  def __init__(
    self,
    encoder: Encoder,
    metric: str = "dot",
    loss_direction: str = "backward",
    temperature: float | None = None,
    positive_in_denominator: bool = True,
    normalize_negatives: bool = False,
    global_negatives: bool = True,
    **kwargs: Any,
  ):
    # The model's own policy decides whether Keras scales the loss for float16.
    super().__init__(STATISTICS, **{"dtype": encoder.dtype_policy, **kwargs})
    critics.critic(metric)  # refuses unknown names
    if temperature is not None and temperature <= 0:
      raise ValueError(f"temperature must be positive; got {temperature}.")
    self.encoder = encoder
    self.metric = metric
    self.loss_direction = losses.check_direction(loss_direction)
    self.temperature = temperature
    self.positive_in_denominator = positive_in_denominator
    self.normalize_negatives = normalize_negatives
    self.global_negatives = global_negatives

  def build(self, input_shape: Sequence[int | None]) -> None:
    """Makes the weights for states of the shape [None, S]."""
    build_once(self.encoder, states_of(input_shape))

  def call(self, states: tf.Tensor | Batch, training: bool | None = None) -> tf.Tensor:
    """[N, S] -> [N, d] float32."""
    return self.encoder(states_of(states), training=training)

  def embed(self, states: tf.Tensor) -> tf.Tensor:
    """Representations in inference mode: [N, S] -> [N, d] float32."""
    return self(states, training=False)

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """Distances between representations: [N, S], [N, S] -> [N] float32, lower is closer."""
    return self.embedding_distance(self.embed(states), self.embed(goals))

  def embedding_distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """`distance` of what is embedded already: [N, d], [N, d] -> [N]."""
    return critics.rowwise_distance(self.metric, states, goals)

  def batch_loss(self, batch: Batch, training: bool) -> tuple[tf.Tensor, dict[str, Statistic]]:
    roles = [role for role in ("states", "goals", "negatives") if role in batch]
    # One pass: larger matrix products, and one set of BatchNorm statistics.
    embedded = self(tf.concat([batch[role] for role in roles], axis=0), training=training)
    logits = self._logits(*tf.split(embedded, len(roles)))
    terms = losses.contrastive_terms(logits, self.loss_direction, self.positive_in_denominator)
    alignment, uniformity = (tf.reduce_mean(term) for term in terms)
    statistics = {
      "alignment": Statistic(alignment),
      "uniformity": Statistic(uniformity),
      "accuracy_backward": _accuracy(logits.backward, logits.labels),
      "accuracy_forward": _accuracy(logits.forward, logits.labels),
      **_mean_logits(logits, batch["groups"], self._gather(batch["groups"])),
    }
    return alignment + uniformity, statistics

  def _logits(
    self, states: tf.Tensor, goals: tf.Tensor, negatives: tf.Tensor | None = None
  ) -> losses.Logits:
    """[b, d] each, of this replica -> logits against the whole batch."""
    if self._is_split:
      # Gathered in one piece: one collective operation, and one for its gradient.
      both = replicas.gather(tf.concat([states, goals], axis=1))
      all_states, all_goals = tf.split(both, 2, axis=1)
      backward, forward = self._compare(states, all_goals), self._compare(goals, all_states)
      labels = replicas.row_numbers(tf.shape(states)[0])
    else:
      backward = self._compare(states, goals)
      forward = tf.transpose(backward)
      labels = tf.range(tf.shape(states)[0])
    if negatives is None:
      return losses.Logits(backward, forward, labels)
    backward_extra = self._compare_extra(states, negatives, backward)
    forward_extra = self._compare_extra(goals, negatives, forward)
    return losses.Logits(backward, forward, labels, backward_extra, forward_extra)

  def _compare(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return critics.pairwise_similarity(self.metric, x, y) / self._temperature

  def _compare_extra(self, rows: tf.Tensor, negatives: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Logits [b] of each row with its own extra negative."""
    extra = -critics.rowwise_distance(self.metric, rows, negatives) / self._temperature
    if not self.normalize_negatives:
      return extra
    square_sums = [tf.reduce_sum(tf.square(x)) for x in (logits, extra)]
    if self._is_split:
      square_sums = replicas.total(square_sums)
    return extra * losses.frobenius_scale(*square_sums)

  @property
  def _temperature(self) -> float:
    return self.temperature or math.sqrt(self.encoder.representation_dim)

  @property
  def _is_split(self) -> bool:
    """Whether the columns of the logits come from more than one replica."""
    return self.global_negatives and replicas.count() > 1

  def _gather(self, x: tf.Tensor) -> tf.Tensor:
    return replicas.gather(x) if self._is_split else x

  def get_config(self) -> dict[str, Any]:
    own = {
      "encoder": keras.saving.serialize_keras_object(self.encoder),
      "metric": self.metric,
      "loss_direction": self.loss_direction,
      "temperature": self.temperature,
      "positive_in_denominator": self.positive_in_denominator,
      "normalize_negatives": self.normalize_negatives,
      "global_negatives": self.global_negatives,
    }
    return {**super().get_config(), **own}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> "ContrastiveModel":
    encoder = keras.saving.deserialize_keras_object(config["encoder"])
    return cls(**{**config, "encoder": encoder})


def _accuracy(logits: tf.Tensor, labels: tf.Tensor) -> Statistic:
  """How often the positive's logit is above all others of its row; a tie is a miss."""
  positive = tf.gather(logits, labels, batch_dims=1)
  # Counting is several times faster than argmax under XLA, and a collapsed encoder, all of whose
  # logits are equal, scores nothing.
  at_least = tf.reduce_sum(tf.cast(logits >= positive[:, None], tf.int32), axis=1)
  return Statistic(tf.reduce_mean(tf.cast(at_least == 1, tf.float32)))


def _mean_logits(
  logits: losses.Logits, row_groups: tf.Tensor, column_groups: tf.Tensor
) -> dict[str, Statistic]:
  """Mean logits of states and goals, by how they belong together: groups are [b] and [B]."""
  matrix = logits.backward
  positive = tf.reduce_sum(tf.gather(matrix, logits.labels, batch_dims=1))
  same = tf.cast(row_groups[:, None] == column_groups[None, :], matrix.dtype)
  in_trajectory, total = tf.reduce_sum(same * matrix), tf.reduce_sum(matrix)
  num_positive, num_pairs = (
    tf.cast(x, matrix.dtype) for x in (tf.size(row_groups), tf.size(matrix))
  )
  num_same = tf.reduce_sum(same)
  # Positives are among the pairs of their trajectories, which are among all.
  return {
    "logit_positive": _mean(positive, num_positive),
    "logit_in_trajectory": _mean(in_trajectory - positive, num_same - num_positive),
    "logit_cross_trajectory": _mean(total - in_trajectory, num_pairs - num_same),
  }


def _mean(total: tf.Tensor, count: tf.Tensor) -> Statistic:
  return Statistic(tf.math.divide_no_nan(total, count), weight=count)
