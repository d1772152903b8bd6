"""Encoders, losses and the Keras models of all methods.

>>> encoder = models.ResidualDenseEncoder(num_values=6)
>>> model = models.ContrastiveModel(encoder, metric="dot")
>>> model.compile(keras.optimizers.Adam(3e-4), jit_compile=models.prefers_xla(encoder))
>>> model.fit(data.contrastive_batches(...), steps_per_epoch=1000)
>>> model.distance(cubes, solved_cubes)  # [N], lower is closer
"""

from crtr_tf.models.base import HeuristicModel
from crtr_tf.models.contrastive import ContrastiveModel
from crtr_tf.models.critics import CRITICS, pairwise_similarity, rowwise_distance
from crtr_tf.models.encoders import (
  Encoder,
  ResidualConvEncoder,
  ResidualDenseEncoder,
  prefers_xla,
)
from crtr_tf.models.heuristic import EmbeddingHeuristic, Heuristic
from crtr_tf.models.supervised import SupervisedModel
from crtr_tf.models.value_iteration import ValueIterationModel

__all__ = [
  "CRITICS",
  "ContrastiveModel",
  "EmbeddingHeuristic",
  "Encoder",
  "Heuristic",
  "HeuristicModel",
  "ResidualConvEncoder",
  "ResidualDenseEncoder",
  "SupervisedModel",
  "ValueIterationModel",
  "pairwise_similarity",
  "prefers_xla",
  "rowwise_distance",
]
