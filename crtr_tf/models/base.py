"""The training step that all models share: one loss per batch, gradients, tracked statistics."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from crtr_tf.models import replicas

Batch = Mapping[str, tf.Tensor]

_LOSS = "loss"
_GRADIENT_NORM = "gradient_norm"


class Statistic(NamedTuple):
  """A mean over part of a batch, and how much it counts beside those of other batches."""

  mean: tf.Tensor  # scalar
  weight: tf.Tensor | float = 1.0  # scalar; 0 if there was nothing to average


class HeuristicModel(keras.Model, abc.ABC):
  """A model trained on dicts of tensors, which estimates the distance between states.

  Subclasses say what the loss of a batch is. `fit` and `evaluate` report the statistics they name,
  as means over the epoch, and the norm of the gradient (0 in `evaluate`, which takes no gradient).

  Args:
    statistics: names of what `batch_loss` reports beside the loss.
    **kwargs: of `keras.Model`.
  """

  def __init__(self, statistics: Sequence[str], **kwargs: Any):
    super().__init__(**kwargs)
    names = (_LOSS, *statistics, _GRADIENT_NORM)
    self._trackers = {name: keras.metrics.Mean(name=name) for name in names}

  @abc.abstractmethod
  def batch_loss(self, batch: Batch, training: bool) -> tuple[tf.Tensor, dict[str, Statistic]]:
    """The mean loss of this replica's rows, a scalar, and the statistics."""

  @abc.abstractmethod
  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """Estimated distances, lower is closer: [N, S], [N, S] -> [N] float32."""

  def train_step(self, batch: Batch) -> dict[str, tf.Tensor]:
    with tf.GradientTape() as tape:
      loss, statistics = self.batch_loss(batch, training=True)
      # Keras' optimizer adds up the gradients of the replicas; their mean is wanted.
      objective = self.optimizer.scale_loss(loss / replicas.count())
    variables = self.trainable_variables
    gradients = tape.gradient(objective, variables)
    norm = tf.linalg.global_norm(replicas.total(gradients)) / self.optimizer.scale_loss(1.0)
    self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
    self._track({_LOSS: Statistic(loss), **statistics, _GRADIENT_NORM: Statistic(norm)})
    self.after_step(loss)
    return self._results()

  def test_step(self, batch: Batch) -> dict[str, tf.Tensor]:
    loss, statistics = self.batch_loss(batch, training=False)
    self._track({_LOSS: Statistic(loss), **statistics})
    return self._results()

  def after_step(self, loss: tf.Tensor) -> None:
    """For what follows an update of the weights; `loss` is this replica's."""
    del loss  # A body of a docstring alone is more than AutoGraph can convert.

  @property
  def metrics(self) -> list[keras.metrics.Metric]:
    return list(self._trackers.values())

  def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
    """Skips what Keras does under a strategy to learn the shapes of a model that is not built.

    It would average a batch over the replicas for that, which several hosts cannot do with a dict.
    """
    if not self.built:
      super()._maybe_symbolic_build(iterator, data_batch)
    elif self.optimizer is not None and not self.optimizer.built:
      with self.distribute_strategy.scope():
        self.optimizer.build(self.trainable_variables)

  def _track(self, statistics: Mapping[str, Statistic]) -> None:
    for name, (mean, weight) in statistics.items():
      self._trackers[name].update_state(mean, sample_weight=weight)

  def _results(self) -> dict[str, tf.Tensor]:
    results = {name: tracker.result() for name, tracker in self._trackers.items()}
    if replicas.several_hosts():
      # Keras then takes the mean over hosts and over the first axis, which a scalar does not have.
      return {name: result[None] for name, result in results.items()}
    return results


def states_of(inputs: tf.Tensor | Batch) -> Any:
  """The states of a batch, or of the shapes of one; anything else is returned as it is.

  Keras builds a model that has no weights yet by showing it a whole batch.
  """
  return inputs["states"] if isinstance(inputs, Mapping) else inputs


def build_once(layer: keras.layers.Layer, input_shape: Sequence[int | None]) -> None:
  """Builds a layer that loading may have built before its model."""
  if not layer.built:
    layer.build(input_shape)
