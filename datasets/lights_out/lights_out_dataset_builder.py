"""Lights Out episodes."""

import tensorflow_datasets as tfds

from crtr_tf.datasets import trajectory_builder
from crtr_tf.datasets.trajectory_builder import PuzzleConfig


class Builder(trajectory_builder.TrajectoryBuilder):
  """Boards with some lights on, and presses that turn them all off."""

  VERSION = tfds.core.Version("1.0.0")
  RELEASE_NOTES = {"1.0.0": "Initial release."}
  DEFAULT_BUILDER_CONFIG_NAME = "small"
  BUILDER_CONFIGS = [
    PuzzleConfig(name="tiny", description="For tests.", num_train=20, num_test=10),
    PuzzleConfig(
      name="small",
      description="The 7x7 board, for experiments on a CPU.",
      num_train=50_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="5x5_small",
      description="The 5x5 board, for experiments on a CPU.",
      puzzle={"height": 5, "width": 5, "trajectory_moves": 25},
      num_train=50_000,
      num_test=1_000,
    ),
    PuzzleConfig(
      name="paper",
      description="The 7x7 board, of which the paper uses unlimited data.",
      num_train=1_000_000,
      num_test=1_000,
      use_beam=True,
    ),
  ]
