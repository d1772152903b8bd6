"""From trajectories to trained weights: strategy, fit, callbacks, checkpoints, resume."""

from crtr_tf.training.loop import TrainingError, TrainingResult, train
from crtr_tf.training.methods import (
  ContrastiveMethod,
  Method,
  RandomMethod,
  StateSpec,
  SupervisedMethod,
  ValueIterationMethod,
  conv_encoder,
  dense_encoder,
)
from crtr_tf.training.optimizers import adam, muon
from crtr_tf.training.strategies import make_strategy

__all__ = [
  "ContrastiveMethod",
  "Method",
  "RandomMethod",
  "StateSpec",
  "SupervisedMethod",
  "TrainingError",
  "TrainingResult",
  "ValueIterationMethod",
  "adam",
  "conv_encoder",
  "dense_encoder",
  "make_strategy",
  "muon",
  "train",
]
