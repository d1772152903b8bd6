"""TFDS's own checks of the five builders."""

import pathlib

import tensorflow_datasets as tfds

import crtr_tf.datasets


class BuilderTestCase(tfds.testing.DatasetBuilderTestCase):
  """TFDS's checks of the config `tiny`; pytest runs it for each of the subclasses below."""

  __test__ = False
  BUILDER_CONFIG_NAMES_TO_TEST = ["tiny"]
  SPLITS = {"train": 20, "test": 10}
  SKIP_CHECKSUMS = True  # There are no downloads, ...
  EXAMPLE_DIR = pathlib.Path(__file__).parent  # ... so any folder will do for them.


class RubiksCubeTest(BuilderTestCase):
  __test__ = True
  DATASET_CLASS = crtr_tf.datasets.BUILDERS["rubiks_cube"]


class SokobanTest(BuilderTestCase):
  __test__ = True
  DATASET_CLASS = crtr_tf.datasets.BUILDERS["sokoban"]


class NPuzzleTest(BuilderTestCase):
  __test__ = True
  DATASET_CLASS = crtr_tf.datasets.BUILDERS["n_puzzle"]


class LightsOutTest(BuilderTestCase):
  __test__ = True
  DATASET_CLASS = crtr_tf.datasets.BUILDERS["lights_out"]


class DigitJumperTest(BuilderTestCase):
  __test__ = True
  DATASET_CLASS = crtr_tf.datasets.BUILDERS["digit_jumper"]
