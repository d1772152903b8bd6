"""Rubik's Cube episodes."""

import tensorflow_datasets as tfds

from crtr_tf.datasets import trajectory_builder
from crtr_tf.datasets.trajectory_builder import PuzzleConfig


class Builder(trajectory_builder.TrajectoryBuilder):
  """Scrambled cubes, and the way back to the solved one."""

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "Initial release."}
  DEFAULT_BUILDER_CONFIG_NAME = "small"
  BUILDER_CONFIGS = [
    PuzzleConfig(name="tiny", description="For tests.", num_train=20, num_test=10),
    PuzzleConfig(
      name="small",
      description="For experiments on a CPU.",
      num_train=100_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="paper",
      description="As many trajectories as in the paper.",
      num_train=5_240_000,
      num_test=1_000,
      use_beam=True,
    ),
  ]
