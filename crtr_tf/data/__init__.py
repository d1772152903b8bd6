"""Trajectories into training batches: sources, pair sampling, repetition-factor grouping."""

from crtr_tf.data.detours import with_detours
from crtr_tf.data.pipeline import (
  augmented,
  check_replicas,
  contrastive_batches,
  read_trajectories,
  scrambled_batches,
  supervised_batches,
)
from crtr_tf.data.records import DatasetError
from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.data.sources import rlds_trajectories, simulated_trajectories, tfds_trajectories

__all__ = [
  "DatasetError",
  "TrajectoryBatch",
  "augmented",
  "check_replicas",
  "contrastive_batches",
  "read_trajectories",
  "rlds_trajectories",
  "scrambled_batches",
  "simulated_trajectories",
  "supervised_batches",
  "tfds_trajectories",
  "with_detours",
]
