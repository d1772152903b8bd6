"""What the five builders write, and what they can be asked for."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import crtr_tf.datasets
from crtr_tf import puzzles
from crtr_tf.datasets import SPLIT_SEEDS, PuzzleConfig

NAMES = tuple(puzzles.PUZZLES)
TINY = {"train": 20, "test": 10}


@pytest.fixture(scope="module", params=NAMES)
def builder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
  """A prepared `tiny` dataset, found by its name."""
  builder = tfds.builder(f"{request.param}/tiny", data_dir=tmp_path_factory.mktemp("data"))
  builder.download_and_prepare()
  return builder


def _read(builder: tfds.core.DatasetBuilder, split: str) -> dict[int, dict]:
  """Episodes by their numbers, steps as dense arrays."""
  dataset = builder.as_dataset(split=split, decoders={"steps": tfds.decode.SkipDecoding()})
  return {int(episode["episode_id"]): episode for episode in dataset.as_numpy_iterator()}


@pytest.mark.parametrize("split", SPLIT_SEEDS)
def test_episodes_are_the_trajectories_of_the_puzzle(builder, split):
  recorded = _read(builder, split)
  assert sorted(recorded) == list(range(TINY[split]))
  numbers = tf.range(TINY["train"], dtype=tf.int64)  # one batch size, so as to compile once
  states, actions, lengths = builder.puzzle.trajectories(SPLIT_SEEDS[split], numbers)
  for number, episode in recorded.items():
    steps, length = episode["steps"], int(lengths[number])
    assert episode["seed"] == SPLIT_SEEDS[split]
    assert steps["observation"].shape == (length, builder.puzzle.state_size)
    assert steps["observation"].dtype == np.uint8
    np.testing.assert_array_equal(steps["observation"], states[number, :length])
    np.testing.assert_array_equal(steps["action"][:-1], actions[number, : length - 1])


def test_steps_follow_rlds(builder):
  for episode in _read(builder, "test").values():
    steps = episode["steps"]
    # From the action that reaches the goal on, nothing is to come.
    ending = np.arange(len(steps["action"])) >= len(steps["action"]) - 2
    np.testing.assert_array_equal(steps["discount"], np.where(ending, 0.0, 1.0))
    assert steps["reward"][-2] == 1.0 and steps["reward"].sum() == 1.0
    assert steps["action"][-1] == 0
    assert steps["is_first"].tolist() == [True] + [False] * (len(ending) - 1)
    assert steps["is_last"].tolist() == steps["is_terminal"].tolist()
    assert steps["is_last"].tolist() == [False] * (len(ending) - 1) + [True]
    assert builder.puzzle.is_solved(tf.constant(steps["observation"][-1:]))


def test_splits_share_no_episode(builder):
  train, test = (
    {episode["steps"]["observation"].tobytes() for episode in _read(builder, split).values()}
    for split in SPLIT_SEEDS
  )
  assert len(train) == TINY["train"] and not train & test


def test_metadata_tell_the_puzzle(builder):
  puzzle = builder.puzzle
  metadata = json.loads((builder.data_path / "metadata.json").read_text())
  assert metadata["split_seeds"] == SPLIT_SEEDS
  recorded = metadata["puzzle"]
  assert recorded == crtr_tf.datasets.describe(puzzle)
  assert recorded == tfds.builder_from_directory(builder.data_dir).info.metadata["puzzle"]
  assert recorded.items() >= puzzles.describe(puzzle).items()
  assert recorded["action_names"] == list(puzzle.action_names)
  # The parameters make the same puzzle again.
  again = puzzles.PUZZLES[recorded["name"]](**recorded["parameters"])
  assert crtr_tf.datasets.describe(again) == recorded


def test_description_and_citation_are_those_of_the_folder(builder):
  folder = pathlib.Path(crtr_tf.datasets.__file__).parent / builder.name
  assert builder.info.description.strip() == (folder / "README.md").read_text().strip()
  assert "Contrastive Representations for Temporal Reasoning" in builder.info.citation


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_has_the_three_sizes(name):
  configs = crtr_tf.datasets.BUILDERS[name].builder_configs
  assert configs["tiny"].num_episodes == TINY
  assert TINY["train"] < configs["small"].num_train < configs["paper"].num_train
  assert configs["paper"].num_test == 1000 and configs["paper"].use_beam


def test_every_puzzle_has_a_dataset():
  assert set(crtr_tf.datasets.BUILDERS) == set(puzzles.PUZZLES)


def _lights_config(name: str = "custom", **kwargs) -> PuzzleConfig:
  return PuzzleConfig(name=name, num_train=3, num_test=2, **kwargs)


def _prepare(config: PuzzleConfig, folder: pathlib.Path, **kwargs) -> tfds.core.DatasetBuilder:
  builder = tfds.builder("lights_out", config=config, data_dir=folder)
  builder.download_and_prepare(**kwargs)
  return builder


@pytest.mark.parametrize(
  "puzzle", [puzzles.LightsOut(3, 4, 6), {"height": 3, "width": 4, "trajectory_moves": 6}]
)
def test_a_puzzle_of_any_size(tmp_path, puzzle):
  builder = _prepare(_lights_config(puzzle=puzzle), tmp_path)
  (episode, *_) = _read(builder, "train").values()
  assert episode["steps"]["observation"].shape == (7, 12)
  assert builder.info.metadata["puzzle"]["board_shape"] == [3, 4]
  assert builder.info.splits["train"].num_examples == 3


def test_a_directory_of_another_puzzle_is_refused(tmp_path):
  _prepare(_lights_config(puzzle={"height": 3, "width": 3}), tmp_path)
  with pytest.raises(ValueError, match=r"'height': 3, .*not .*'height': 4, .*choose another name"):
    _prepare(_lights_config(puzzle={"height": 4, "width": 3}), tmp_path)


def test_the_puzzle_must_be_that_of_the_builder(tmp_path):
  with pytest.raises(ValueError, match=r"config custom of lights_out must .*; got n_puzzle"):
    _prepare(_lights_config(puzzle=puzzles.NPuzzle(3)), tmp_path)


def test_sizes_must_be_positive():
  with pytest.raises(ValueError, match="num_test of config empty must be at least 1; got 0"):
    PuzzleConfig(name="empty", num_train=1, num_test=0)


def test_a_puzzle_that_hides_an_argument_cannot_be_described():
  class Secretive(puzzles.LightsOut):
    def __init__(self, secret: int):
      super().__init__(secret, secret)

  with pytest.raises(TypeError, match="Secretive must keep its argument 'secret'"):
    crtr_tf.datasets.describe(Secretive(3))


def test_max_examples_per_split(tmp_path):
  config = tfds.download.DownloadConfig(max_examples_per_split=2)
  builder = _prepare(_lights_config(), tmp_path, download_config=config)
  assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
    "train": 2,
    "test": 2,
  }


def test_random_access_format(tmp_path):
  builder = _prepare(_lights_config(), tmp_path, file_format="array_record")
  assert [episode["episode_id"] for episode in builder.as_data_source("train")] == [0, 1, 2]
