"""Our own datasets as a source: the same episodes, and directories that do not fit."""

import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import crtr_tf.datasets
from crtr_tf import data
from crtr_tf.puzzles import DigitJumper, LightsOut, RubiksCube

PUZZLE = DigitJumper()
TINY = "digit_jumper/tiny"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
  builder = tfds.builder(TINY, data_dir=tmp_path_factory.mktemp("data"))
  builder.download_and_prepare()
  return str(builder.data_dir)


def test_a_directory_gives_the_episodes_of_the_puzzle(directory: str):
  source = data.tfds_trajectories(PUZZLE, directory, split="test")
  batch = data.read_trajectories(source, 10, seed=0)
  seed = crtr_tf.datasets.SPLIT_SEEDS["test"]
  expected = PUZZLE.trajectories(seed, batch.episodes)
  np.testing.assert_array_equal(batch.lengths, expected.lengths)
  for ours, theirs, length in zip(batch.states, expected.states, batch.lengths, strict=True):
    np.testing.assert_array_equal(ours[:length], theirs[:length])


def test_recorded_and_simulated_batches_have_the_same_spec(directory: str):
  sources = (data.tfds_trajectories(PUZZLE, directory), data.simulated_trajectories(PUZZLE))
  specs = [data.contrastive_batches(s, 16, 2, 0.9, seed=0).element_spec for s in sources]
  assert specs[0] == specs[1]


def test_crl_batches_from_a_pool_have_no_accidental_in_trajectory_negatives(directory: str):
  source = data.tfds_trajectories(PUZZLE, directory)
  batches = data.contrastive_batches(source, 16, 1, 0.9, seed=0).take(30)
  for batch in batches.as_numpy_iterator():
    boards = [tuple(state % 6) for state in batch["states"]]  # the digits, without the player
    assert len(set(batch["groups"])) == len(set(boards)) == 16


def test_another_size_or_puzzle_is_refused(directory: str):
  with pytest.raises(
    data.DatasetError, match=r"board_shape is \[20, 20\] there and \[10, 20\] here"
  ):
    data.tfds_trajectories(DigitJumper(height=10), directory)
  with pytest.raises(
    data.DatasetError, match="name is 'digit_jumper' there and 'rubiks_cube' here"
  ):
    data.tfds_trajectories(RubiksCube(), directory)


def test_a_missing_directory_is_refused_with_the_command():
  with pytest.raises(data.DatasetError, match="build one with: tfds build datasets/lights_out"):
    data.tfds_trajectories(LightsOut(), "nowhere")


def test_a_half_built_directory_is_refused(directory: str, tmp_path: pathlib.Path):
  half = tmp_path / "1.0.0.incompleteABC"
  shutil.copytree(directory, half)
  (half / "dataset_info.json").unlink()
  with pytest.raises(data.DatasetError, match="is no complete TFDS dataset"):
    data.tfds_trajectories(PUZZLE, str(half))


def test_a_dataset_of_others_is_refused(directory: str, tmp_path: pathlib.Path):
  foreign = tmp_path / "1.0.0"
  shutil.copytree(directory, foreign)
  (foreign / "metadata.json").unlink()
  with pytest.raises(data.DatasetError, match="does not say which puzzle it holds"):
    data.tfds_trajectories(PUZZLE, str(foreign))


def test_a_shard_cut_short_is_refused(directory: str, tmp_path: pathlib.Path):
  copy = tmp_path / "1.0.0"
  shutil.copytree(directory, copy)
  shard = next(copy.glob("*train*.tfrecord*"))
  shard.write_bytes(shard.read_bytes()[:-10])
  with pytest.raises(data.DatasetError, match="is damaged: 19 whole episodes of 20"):
    data.tfds_trajectories(PUZZLE, str(copy))
  assert data.tfds_trajectories(PUZZLE, str(copy), split="test").episodes.count == 10


def test_a_batch_larger_than_the_dataset_is_refused(directory: str):
  source = data.tfds_trajectories(PUZZLE, directory)
  with pytest.raises(ValueError, match=r"needs 32 distinct trajectories, but .* holds 20"):
    data.contrastive_batches(source, 64, 2, 0.9, seed=0)
  assert isinstance(data.contrastive_batches(source, 40, 2, 0.9, seed=0), tf.data.Dataset)
