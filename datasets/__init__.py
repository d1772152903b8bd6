"""TFDS builders, one folder each; installed as `crtr_tf.datasets`.

Importing this package makes the datasets known to TFDS:

>>> import crtr_tf.datasets
>>> tfds.load("rubiks_cube/small")

The folder sits at the top of the checkout so that `tfds build datasets/<name>` works as usual. It
is not installed under its own name, because a widely used library already owns the name `datasets`.
"""

# Importing a builder registers it.
from crtr_tf.datasets.digit_jumper import digit_jumper_dataset_builder as _digit_jumper
from crtr_tf.datasets.lights_out import lights_out_dataset_builder as _lights_out
from crtr_tf.datasets.n_puzzle import n_puzzle_dataset_builder as _n_puzzle
from crtr_tf.datasets.rubiks_cube import rubiks_cube_dataset_builder as _rubiks_cube
from crtr_tf.datasets.sokoban import sokoban_dataset_builder as _sokoban
from crtr_tf.datasets.trajectory_builder import (
  SPLIT_SEEDS,
  PuzzleConfig,
  TrajectoryBuilder,
  describe,
)

BUILDERS: dict[str, type[TrajectoryBuilder]] = {
  module.Builder.name: module.Builder
  for module in (_rubiks_cube, _sokoban, _n_puzzle, _lights_out, _digit_jumper)
}

__all__ = ["BUILDERS", "SPLIT_SEEDS", "PuzzleConfig", "TrajectoryBuilder", "describe"]
