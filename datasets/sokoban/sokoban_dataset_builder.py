"""Sokoban episodes."""

import tensorflow_datasets as tfds

from crtr_tf.datasets import trajectory_builder
from crtr_tf.datasets.trajectory_builder import PuzzleConfig

# Levels take long to make and to solve: small shards keep all processes busy.
_EPISODES_PER_SHARD = 512


class Builder(trajectory_builder.TrajectoryBuilder):
  """Generated levels, and solutions of an expert that is good but not optimal."""

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "Initial release."}
  DEFAULT_BUILDER_CONFIG_NAME = "small"
  BUILDER_CONFIGS = [
    PuzzleConfig(name="tiny", description="For tests.", num_train=20, num_test=10),
    PuzzleConfig(
      name="small",
      description="12x12 levels with four boxes, for experiments on a CPU.",
      num_train=5_000,
      num_test=200,
      episodes_per_shard=_EPISODES_PER_SHARD,
    ),
    PuzzleConfig(
      name="medium",
      description="12x12 levels with four boxes, for an hour of a CPU; see gin/cpu/released.",
      num_train=30_000,
      num_test=200,
      episodes_per_shard=_EPISODES_PER_SHARD,
    ),
    PuzzleConfig(
      name="8x8_small",
      description="8x8 levels with two boxes, for experiments on a CPU.",
      puzzle={"height": 8, "width": 8, "num_boxes": 2},
      num_train=5_000,
      num_test=200,
      episodes_per_shard=_EPISODES_PER_SHARD,
    ),
    PuzzleConfig(
      name="paper",
      description="12x12 levels with four boxes, as many trajectories as in the paper.",
      num_train=100_000,
      num_test=1_000,
      use_beam=True,
      episodes_per_shard=_EPISODES_PER_SHARD,
    ),
  ]
