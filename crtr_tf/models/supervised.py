"""The supervised baseline: classifies a pair of states into the number of steps between them."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from crtr_tf.models.base import Batch, HeuristicModel, Statistic, states_of
from crtr_tf.models.encoders import Encoder

STATISTICS = (
  "accuracy",  # the likeliest bin is the true distance
  "absolute_error",  # of the value that `distance` gives, in steps
)
VALUES = ("expected", "argmax")


@keras.saving.register_keras_serializable(package="crtr_tf")
class SupervisedModel(HeuristicModel):
  """A network on pairs of states with a bin for every distance from 0 to num_bins - 1.

  The two states enter the encoder's first layer together, as twice as many cells (dense) or twice
  as many channels (convolutions): a distance is not a function of two separate codes, and all
  layers behind the first are those of the contrastive encoder.

  Batches are dicts: `states` and `goals` [B, S], `distances` [B] int32.

  Args:
    encoder: the architecture; the model makes its own network of that kind, resized to pairs.
    num_bins: the number of states of the longest trajectory; longer distances fall in the last bin.
    value: "expected" takes the mean of the predicted distribution as the distance, "argmax" the
      likeliest bin, which leaves many ties.
    **kwargs: of `keras.Model`.
  """

  def __init__(self, encoder: Encoder, num_bins: int, value: str = "expected", **kwargs: Any):
    super().__init__(STATISTICS, **{"dtype": encoder.dtype_policy, **kwargs})
    if num_bins < 2:
      raise ValueError(f"num_bins must be at least 2; got {num_bins}.")
    if value not in VALUES:
      raise ValueError(f"value must be one of {', '.join(VALUES)}; got {value!r}.")
    self.encoder = encoder.resized(outputs=num_bins, inputs=2)
    self.num_bins = num_bins
    self.value = value

  def build(self, input_shape: Sequence[int | None]) -> None:
    """Makes the weights for states of the shape [None, S]."""
    batch, size = states_of(input_shape)
    self.encoder.build((batch, 2 * size))

  def call(self, batch: Batch, training: bool | None = None) -> tf.Tensor:
    """`states` and `goals` [N, S] of a dict -> logits of the bins [N, num_bins] float32."""
    pairs = tf.concat([batch["states"], batch["goals"]], axis=-1)
    return self.encoder(pairs, training=training)

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """Predicted steps from state to goal: [N, S], [N, S] -> [N] float32."""
    return self.bin_value(self({"states": states, "goals": goals}, training=False))

  def bin_value(self, logits: tf.Tensor) -> tf.Tensor:
    """The distance that a distribution stands for: [N, num_bins] -> [N] float32."""
    if self.value == "argmax":
      return tf.cast(tf.argmax(logits, axis=-1), tf.float32)
    steps = tf.range(self.num_bins, dtype=tf.float32)
    return tf.linalg.matvec(tf.nn.softmax(logits), steps)

  def batch_loss(self, batch: Batch, training: bool) -> tuple[tf.Tensor, dict[str, Statistic]]:
    logits = self(batch, training=training)
    bins = tf.minimum(batch["distances"], self.num_bins - 1)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=bins, logits=logits)
    hits = tf.argmax(logits, axis=-1, output_type=bins.dtype) == bins
    errors = tf.abs(self.bin_value(logits) - tf.cast(batch["distances"], tf.float32))
    statistics = {
      "accuracy": Statistic(tf.reduce_mean(tf.cast(hits, tf.float32))),
      "absolute_error": Statistic(tf.reduce_mean(errors)),
    }
    return tf.reduce_mean(loss), statistics

  def get_config(self) -> dict[str, Any]:
    own = {
      "encoder": keras.saving.serialize_keras_object(self.encoder),
      "num_bins": self.num_bins,
      "value": self.value,
    }
    return {**super().get_config(), **own}

  @classmethod
  def from_config(cls, config: dict[str, Any]) -> "SupervisedModel":
    # Resizing the resized encoder changes nothing.
    encoder = keras.saving.deserialize_keras_object(config["encoder"])
    return cls(**{**config, "encoder": encoder})
