"""Recorded episodes: RLDS datasets of others, and the ways in which a directory can be wrong."""

import itertools
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from crtr_tf import data
from crtr_tf.data import records

LENGTHS = [3, 5, 9, 3, 30, 7, 4, 11, 6, 8]
OBSERVATION_SIZE = 45  # as in D4RL Adroit pen


class RobotArm(tfds.core.GeneratorBasedBuilder):
  """The feature structure of D4RL Adroit, with observations that tell episode and time."""

  VERSION = tfds.core.Version("1.0.0")
  BUILDER_CONFIGS = (
    tfds.core.BuilderConfig(name="plain"),
    tfds.core.BuilderConfig(name="dictionary"),
    tfds.core.BuilderConfig(name="with_short_episode"),
    tfds.core.BuilderConfig(name="image"),
    tfds.core.BuilderConfig(name="integer"),
  )

  def _info(self) -> tfds.core.DatasetInfo:
    vector = tfds.features.Tensor(shape=(OBSERVATION_SIZE,), dtype=np.float32)
    observation = {
      "dictionary": {
        "arm": tfds.features.Tensor(shape=(2, 3), dtype=np.float32),
        "gripper": tfds.features.Scalar(dtype=np.float32),
        "name": tfds.features.Text(),
      },
      "image": tfds.features.Image(shape=(2, 2, 3)),
      "integer": tfds.features.Tensor(shape=(2,), dtype=np.int32),
    }.get(self.builder_config.name, vector)
    steps = {
      "observation": observation,
      "action": tfds.features.Tensor(shape=(24,), dtype=np.float32),
      "reward": np.float32,
      "discount": np.float32,
      "is_first": np.bool_,
      "is_last": np.bool_,
      "is_terminal": np.bool_,
      "infos": {"qpos": tfds.features.Tensor(shape=(30,), dtype=np.float32)},
    }
    features = tfds.features.FeaturesDict({"steps": tfds.features.Dataset(steps)})
    return self.dataset_info_from_configs(features=features, description="A robot arm.")

  def _split_generators(self, dl_manager: tfds.download.DownloadManager):
    return {"train": self._generate_examples()}

  def _generate_examples(self):
    short = self.builder_config.name == "with_short_episode"
    for episode, length in enumerate([*LENGTHS, 1] if short else LENGTHS):
      yield episode, {"steps": [self._step(episode, time, length) for time in range(length)]}

  def _step(self, episode: int, time: int, length: int) -> dict[str, object]:
    observation = {
      "dictionary": {
        "arm": np.full((2, 3), time, np.float32),
        "gripper": np.float32(episode),
        "name": "arm",
      },
      "image": np.zeros((2, 2, 3), np.uint8),
      "integer": np.zeros(2, np.int32),
    }.get(
      self.builder_config.name,
      np.float32([episode, time, length] + [0.5] * (OBSERVATION_SIZE - 3)),
    )
    return {
      "observation": observation,
      "action": np.zeros(24, np.float32),
      "reward": 0.0,
      "discount": 1.0,
      "is_first": time == 0,
      "is_last": time == length - 1,
      "is_terminal": False,
      "infos": {"qpos": np.zeros(30, np.float32)},
    }


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
  directory = str(tmp_path_factory.mktemp("tensorflow_datasets"))
  for config in RobotArm.BUILDER_CONFIGS:
    RobotArm(config=config.name, data_dir=directory).download_and_prepare()
  return directory


def robot(data_dir: str, config: str = "plain", **options) -> object:
  return data.rlds_trajectories(f"robot_arm/{config}", data_dir=data_dir, **options)


def test_parsing_in_batches_equals_tfds_with_skip_decoding(data_dir: str):
  builder = tfds.builder("robot_arm/plain", data_dir=data_dir)
  decoded = builder.as_dataset(split="train", decoders={"steps": tfds.decode.SkipDecoding()})
  expected = {}
  for episode in decoded.as_numpy_iterator():
    states = episode["steps"]["observation"]
    expected[states[0, 0]] = states
  batch = data.read_trajectories(robot(data_dir), len(LENGTHS), seed=0)
  assert batch.states.dtype == tf.float32
  seen = set()
  for states, length in zip(batch.states.numpy(), batch.lengths.numpy(), strict=True):
    np.testing.assert_array_equal(states[:length], expected[states[0, 0]])
    seen.add(states[0, 0])
  assert seen == set(range(len(LENGTHS)))


def test_pairs_of_float_states_of_varying_length(data_dir: str):
  batches = data.contrastive_batches(robot(data_dir), 20, 2, 0.9, seed=0).take(20)
  for batch in batches.as_numpy_iterator():
    states, goals = batch["states"], batch["goals"]
    np.testing.assert_array_equal(states[:, 0], goals[:, 0])  # the same episode
    np.testing.assert_array_equal(goals[:, 1] - states[:, 1], batch["offsets"])
    assert (goals[:, 1] < goals[:, 2]).all(), "a goal behind the end of its episode"
    assert len(np.unique(states[:, 0])) == len(np.unique(batch["groups"])) == 10


def test_dictionaries_are_concatenated_in_the_order_asked_for(data_dir: str):
  source = robot(data_dir, "dictionary", observation_keys=("gripper", "arm"))
  assert source.state_shape == (7,)
  batch = data.read_trajectories(source, 3, seed=0)
  for states, length in zip(batch.states.numpy(), batch.lengths.numpy(), strict=True):
    assert len(set(states[:length, 0])) == 1
    np.testing.assert_array_equal(states[:length, 1:], np.arange(length)[:, None] * np.ones((1, 6)))


def test_the_last_step_can_be_dropped(data_dir: str):
  batch = data.read_trajectories(robot(data_dir, drop_last_step=True), 10, seed=0)
  np.testing.assert_array_equal(batch.lengths, batch.states.numpy()[:, 0, 2].astype(np.int32) - 1)


def test_parts_of_a_split_are_disjoint_and_complete(data_dir: str):
  parts = [
    data.read_trajectories(robot(data_dir, split=s), n, seed=0)
    for s, n in (("train[:70%]", 7), ("train[70%:]", 3))
  ]
  episodes = [set(part.states.numpy()[:, 0, 0]) for part in parts]
  assert not episodes[0] & episodes[1] and len(episodes[0] | episodes[1]) == 10


def lights_out_records(
  tmp_path: pathlib.Path, episodes_per_shard: list[int]
) -> records.RecordedEpisodes:
  """Shards written plainly, to test the order of reading apart from TFDS."""
  shards, number = [], 0
  for index, count in enumerate(episodes_per_shard):
    path = str(tmp_path / f"shard-{index}")
    with tf.io.TFRecordWriter(path) as writer:
      for episode in range(number, number + count):
        values = tf.train.Int64List(value=[episode % 2, episode // 2 % 2] * 3)
        feature = {"steps/observation": tf.train.Feature(int64_list=values)}
        writer.write(
          tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        )
    shards.append(records.Shard(path, 0, count, number))
    number += count
  return records.RecordedEpisodes("test", tuple(shards), (("steps/observation", 2),), tf.uint8)


@pytest.mark.parametrize("window", [1, 7, 1000])
def test_an_epoch_visits_every_episode_once_in_a_new_order(tmp_path: pathlib.Path, window: int):
  source = data.sources.RecordedTrajectories(lights_out_records(tmp_path, [10, 3, 17]), window)
  epochs = []
  batches = source.batches(5, seed=0).as_numpy_iterator()
  for _ in range(3):
    epochs.append(np.concatenate([batch.episodes for batch in itertools.islice(batches, 6)]))
    assert sorted(epochs[-1]) == list(range(30))
  assert (epochs[0] != epochs[1]).any() and (epochs[1] != epochs[2]).any()


@pytest.mark.parametrize("window", [4, 13, 1000])
@pytest.mark.parametrize("step", [0, 1, 4, 6, 7, 20])
def test_recorded_batches_resume_exactly(tmp_path: pathlib.Path, window: int, step: int):
  source = data.sources.RecordedTrajectories(lights_out_records(tmp_path, [10, 3, 20]), window)

  def numbers(first_step: int, count: int) -> list[list[int]]:
    batches = source.batches(5, seed=3, first_step=first_step).as_numpy_iterator()
    return [batch.episodes.tolist() for batch in itertools.islice(batches, count)]

  assert numbers(step, 8) == numbers(0, step + 8)[step:]


def test_memory_is_bounded_by_the_window(tmp_path: pathlib.Path):
  """Reading starts before the end is reached: no stage collects the whole dataset."""
  episodes = lights_out_records(tmp_path, [50, 50, 50])
  with open(episodes.shards[0].path, "ab"), open(episodes.shards[2].path, "wb"):
    pass  # the third shard is now empty; it is noticed only where it is read
  order = tf.constant([0, 1, 2])
  assert len(list(episodes.read(order, tf.constant(0, tf.int64)).take(100))) == 100


REFUSALS = {
  "not prepared": (
    lambda d: data.rlds_trajectories("d4rl_adroit_pen/v0-human", data_dir=d),
    r"d4rl_adroit_pen/v0-human is not prepared in .*; fetch it with: "
    r"tfds build d4rl_adroit_pen/v0-human --data_dir=",
  ),
  "unknown": (
    lambda d: data.rlds_trajectories("no_such_dataset", data_dir=d),
    "TFDS knows no dataset 'no_such_dataset'",
  ),
  "split": (lambda d: robot(d, split="validation"), r"no split 'validation'; it has \['train'\]"),
  "keys missing": (
    lambda d: robot(d, "dictionary"),
    r"observation_keys must name some of \['arm', 'gripper', 'name'\]; got None",
  ),
  "keys wrong": (
    lambda d: robot(d, "dictionary", observation_keys=("leg",)),
    r"observation_keys must name some of .* got \('leg',\)",
  ),
  "keys of no dictionary": (
    lambda d: robot(d, observation_keys=("arm",)),
    r"are no dictionary; got keys \('arm',\)",
  ),
  "text": (
    lambda d: robot(d, "dictionary", observation_keys=("name",)),
    "is no numeric tensor of fixed shape",
  ),
  "image": (lambda d: robot(d, "image"), "is no numeric tensor of fixed shape"),
  "integers": (lambda d: robot(d, "integer"), r"all uint8 or all float; got \['int32'\]"),
  "window": (lambda d: robot(d, shuffle_window=0), "shuffle_window must be at least 1; got 0"),
  "batch": (
    lambda d: robot(d).batches(11, seed=0),
    "a batch needs 11 distinct trajectories, but robot_arm/plain holds 10",
  ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_datasets_that_do_not_fit_are_refused(name: str, data_dir: str):
  attempt, message = REFUSALS[name]
  with pytest.raises(ValueError, match=message):
    attempt(data_dir)


def test_an_episode_of_one_state_is_refused(data_dir: str):
  source = robot(data_dir, "with_short_episode")
  with pytest.raises(tf.errors.InvalidArgumentError, match="needs at least 2 states"):
    list(data.contrastive_batches(source, 11, 1, 0.9, seed=0).take(1))


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.999])
def test_a_shard_cut_short_is_noticed_before_training(
  data_dir: str, tmp_path: pathlib.Path, kept: float
):
  copy = tmp_path / "copy"
  shutil.copytree(data_dir, copy)
  (shard,) = (copy / "robot_arm" / "plain").rglob("*.tfrecord*")
  content = shard.read_bytes()
  shard.write_bytes(content[: int(kept * len(content))])
  with pytest.raises(data.DatasetError, match=r"is damaged: \d whole episodes of 10"):
    robot(str(copy))


def test_a_missing_shard_is_noticed(data_dir: str, tmp_path: pathlib.Path):
  copy = tmp_path / "copy"
  shutil.copytree(data_dir, copy)
  (shard,) = (copy / "robot_arm" / "plain").rglob("*.tfrecord*")
  shard.unlink()
  with pytest.raises(data.DatasetError, match="is missing"):
    robot(str(copy))
