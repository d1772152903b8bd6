"""Digit Jumper episodes."""

import tensorflow_datasets as tfds

from crtr_tf.datasets import trajectory_builder
from crtr_tf.datasets.trajectory_builder import PuzzleConfig


class Builder(trajectory_builder.TrajectoryBuilder):
  """Boards of digits, and a path of jumps across each."""

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "Initial release."}
  DEFAULT_BUILDER_CONFIG_NAME = "small"
  BUILDER_CONFIGS = [
    PuzzleConfig(name="tiny", description="For tests.", num_train=20, num_test=10),
    PuzzleConfig(
      name="small",
      description="The 20x20 board, for experiments on a CPU.",
      num_train=10_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="10x10_small",
      description="The 10x10 board, for experiments on a CPU.",
      puzzle={"height": 10, "width": 10},
      num_train=10_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="paper",
      description="The 20x20 board, as many trajectories as in the paper.",
      num_train=100_000,
      num_test=1_000,
      use_beam=True,
    ),
  ]
