"""The RLDS schema of our episodes, and trajectories written in it.

A step holds a state, the action taken there and what came of it. As in other RLDS datasets the last
step has no action of its own (it stores 0), and the discount is 0 from the action that ends the
episode on. An action is rewarded with 1 if it ends the episode at the goal: a random walk may pass
the goal before its end, but the episode does not stop there.
"""

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from crtr_tf.datasets import wire_format

if TYPE_CHECKING:
  import tensorflow_datasets as tfds

  from crtr_tf import puzzles

_RECORD_OVERHEAD = 256  # bytes: names of the features, lengths, and the frame of the record
_STEP_OVERHEAD = 13  # bytes of a step besides its state: two floats, three flags, an action


def rlds_features(puzzle: "puzzles.Puzzle") -> "tfds.features.FeaturesDict":
  """The features of an episode; its steps have variable number."""
  import tensorflow_datasets as tfds

  steps = {
    "observation": tfds.features.Tensor(shape=(puzzle.state_size,), dtype=np.uint8),
    "action": np.int32,
    "reward": np.float32,
    "discount": np.float32,
    "is_first": np.bool_,
    "is_last": np.bool_,
    "is_terminal": np.bool_,
  }
  return tfds.features.FeaturesDict(
    {"steps": tfds.features.Dataset(steps), "episode_id": np.int64, "seed": np.int64}
  )


def largest_record(puzzle: "puzzles.Puzzle") -> int:
  """About how many bytes the longest episode of a puzzle takes."""
  return puzzle.max_trajectory_states * (puzzle.state_size + _STEP_OVERHEAD) + _RECORD_OVERHEAD


def serialize(
  trajectories: "puzzles.Trajectories", seed: int, episode_ids: np.ndarray
) -> Iterator[bytes]:
  """Yields a serialized `tf.train.Example` for each of the first len(episode_ids) trajectories."""
  states, moves, lengths = (part.numpy() for part in trajectories)
  # NO_ACTION, which is negative, and the missing action of the last step become 0.
  actions = np.pad(np.maximum(moves, 0), [(0, 0), (0, 1)])
  states, pack_states = wire_format.varint_packer(states)
  actions, pack_actions = wire_format.varint_packer(actions)
  for row, episode_id in enumerate(episode_ids.tolist()):
    length = int(lengths[row])
    yield wire_format.example(
      (
        wire_format.int64_feature("episode_id", wire_format.varint(episode_id)),
        wire_format.int64_feature("steps/action", pack_actions(actions[row, :length])),
        wire_format.int64_feature("steps/observation", pack_states(states[row, :length])),
        _features_of_all_episodes(length, seed),
      )
    )


@functools.lru_cache(maxsize=1024)
def _features_of_all_episodes(length: int, seed: int) -> bytes:
  """What all episodes of one length and seed have in common."""
  steps = np.arange(length)
  is_last = steps == length - 1
  reaches_goal = steps == length - 2
  integers = {
    "seed": np.array(seed),
    "steps/is_first": steps == 0,
    "steps/is_last": is_last,
    "steps/is_terminal": is_last,
  }
  floats = {"steps/reward": reaches_goal, "steps/discount": ~(reaches_goal | is_last)}
  return b"".join(
    [wire_format.int64_feature(k, wire_format.pack_varints(v)) for k, v in integers.items()]
    + [wire_format.float_feature(k, v) for k, v in floats.items()]
  )
