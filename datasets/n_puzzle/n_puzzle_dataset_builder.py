"""Sliding-tile puzzle episodes."""

import tensorflow_datasets as tfds

from crtr_tf.datasets import trajectory_builder
from crtr_tf.datasets.trajectory_builder import PuzzleConfig


class Builder(trajectory_builder.TrajectoryBuilder):
  """Shuffled boards, and the way back to the ordered one."""

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "Initial release."}
  DEFAULT_BUILDER_CONFIG_NAME = "small"
  BUILDER_CONFIGS = [
    PuzzleConfig(name="tiny", description="For tests.", num_train=20, num_test=10),
    PuzzleConfig(
      name="small",
      description="The 15-puzzle, for experiments on a CPU.",
      num_train=50_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="3x3_small",
      description="The 8-puzzle, for experiments on a CPU.",
      puzzle={"size": 3},
      num_train=50_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="5x5_small",
      description="The 24-puzzle, for experiments on a CPU.",
      puzzle={"size": 5},
      num_train=20_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="paper",
      description="The 15-puzzle, of which the paper uses unlimited data.",
      num_train=1_000_000,
      num_test=1_000,
      use_beam=True,
    ),
  ]
