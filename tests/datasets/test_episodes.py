"""Trajectories become RLDS episodes, byte for byte what TFDS would make of them."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer

from crtr_tf import puzzles
from crtr_tf.datasets import episodes

SEED = 2**40 + 3
IDS = np.array([0, 127, 128, 5_239_999])
LENGTHS = [2, 6, 3, 5]


def _trajectories(num_values: int, num_actions: int, state_size: int) -> puzzles.Trajectories:
  rng = np.random.default_rng(0)
  batch, time = len(LENGTHS), max(LENGTHS)
  states = rng.integers(0, num_values, [batch, time, state_size], np.uint8)
  actions = rng.integers(0, num_actions, [batch, time - 1], np.int32)
  for row, length in enumerate(LENGTHS):
    states[row, length:] = states[row, length - 1]
    actions[row, length - 1 :] = puzzles.NO_ACTION
  return puzzles.Trajectories(*map(tf.constant, (states, actions, LENGTHS)))


def _rlds_episode(trajectories: puzzles.Trajectories, row: int) -> dict:
  """The same episode spelled out step by step."""
  length = LENGTHS[row]
  steps = []
  for step in range(length):
    last, rewarded = step == length - 1, step == length - 2
    steps.append(
      {
        "observation": trajectories.states[row, step].numpy(),
        "action": 0 if last else int(trajectories.actions[row, step]),
        "reward": 1.0 if rewarded else 0.0,
        "discount": 0.0 if last or rewarded else 1.0,
        "is_first": step == 0,
        "is_last": last,
        "is_terminal": last,
      }
    )
  return {"steps": steps, "episode_id": IDS[row], "seed": SEED}


# Values from 128 on take two bytes on the wire.
@pytest.mark.parametrize("num_values", [2, 128, 256])
@pytest.mark.parametrize("num_actions", [4, 144])
def test_records_are_those_of_tfds(num_values, num_actions):
  puzzle = puzzles.LightsOut(3, 3)  # only the size of its states counts
  features = episodes.rlds_features(puzzle)
  serializer = example_serializer.ExampleSerializer(features.get_serialized_info())
  trajectories = _trajectories(num_values, num_actions, puzzle.state_size)
  records = list(episodes.serialize(trajectories, SEED, IDS))
  assert len(records) == len(IDS)
  for row, record in enumerate(records):
    encoded = features.encode_example(_rlds_episode(trajectories, row))
    expected = serializer.get_tf_example(encoded)
    assert tf.train.Example.FromString(record) == tf.train.Example.FromString(
      expected.SerializeToString()
    )


def test_surplus_trajectories_are_not_written():
  trajectories = _trajectories(2, 9, 9)
  assert len(list(episodes.serialize(trajectories, SEED, IDS[:1]))) == 1


def test_schema():
  features = episodes.rlds_features(puzzles.RubiksCube())
  step = features["steps"].feature
  assert isinstance(features["steps"], tfds.features.Dataset)
  assert step["observation"].shape == (54,) and step["observation"].np_dtype == np.uint8
  assert {name: feature.np_dtype for name, feature in step.items() if name != "observation"} == {
    "action": np.int32,
    "reward": np.float32,
    "discount": np.float32,
    "is_first": np.bool_,
    "is_last": np.bool_,
    "is_terminal": np.bool_,
  }
  assert features["episode_id"].np_dtype == features["seed"].np_dtype == np.int64


def test_largest_record_is_a_bound_and_not_far_off():
  puzzle = puzzles.LightsOut()
  trajectories = puzzle.trajectories(SEED, tf.range(4, dtype=tf.int64))
  longest = max(map(len, episodes.serialize(trajectories, SEED, IDS)))
  assert longest <= episodes.largest_record(puzzle) <= 1.1 * longest
