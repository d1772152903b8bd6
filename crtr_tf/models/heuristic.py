"""What search and evaluation may ask of a model, whatever its method."""

from typing import Protocol, runtime_checkable

import tensorflow as tf


@runtime_checkable
class Heuristic(Protocol):
  """Estimates how far states are from goals; every method gives one."""

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """[N, S], [N, S] -> [N] float32, lower is closer. Units differ between methods."""
    ...


@runtime_checkable
class EmbeddingHeuristic(Heuristic, Protocol):
  """A distance that is one between representations: a goal needs to be embedded only once."""

  def embed(self, states: tf.Tensor) -> tf.Tensor:
    """[N, S] -> [N, d] float32."""
    ...

  def embedding_distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """[N, d], [N, d] -> [N] float32; `distance` is this of the two embeddings."""
    ...
