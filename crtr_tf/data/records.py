"""Reads episodes of TFDS datasets in the RLDS schema, many at a time.

TFDS decodes one episode after the other; parsing a whole batch of serialised episodes in one
operation is what lets one core feed a fast model. The result is the same dense [T, ...] data that
`tfds.decode.SkipDecoding()` gives (a test compares the two).
"""

import dataclasses
import functools
import os
import struct
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.data.sampling import TrajectoryBatch

if TYPE_CHECKING:
  import tensorflow_datasets as tfds

_RECORD_HEADER = struct.Struct("<QI")  # length and its checksum; data and a second checksum follow
_CHECKSUM_BYTES = 4
_MIN_STATES = 2


class DatasetError(ValueError):
  """A dataset that is missing, damaged or not the one asked for; the message says which."""


@dataclasses.dataclass(frozen=True)
class Shard:
  """The part of one file that belongs to the split."""

  path: str
  skip: int
  take: int
  first_number: int  # of its first episode in the whole split


@dataclasses.dataclass(frozen=True)
class RecordedEpisodes:
  """A split of a prepared dataset, checked when it is opened.

  Attributes:
    description: names the dataset in messages.
    shards: the files, in the order of the split.
    observations: the serialised feature and the number of values per step of each part of an
      observation; the parts are concatenated.
    dtype: of a state, tf.uint8 or tf.float32.
    drop_last_step: whether the last step of every episode is left out.
  """

  description: str
  shards: tuple[Shard, ...]
  observations: tuple[tuple[str, int], ...]
  dtype: tf.DType
  drop_last_step: bool = False

  @property
  def count(self) -> int:
    return sum(shard.take for shard in self.shards)

  @property
  def num_shards(self) -> int:
    return len(self.shards)

  @property
  def state_shape(self) -> tuple[int]:
    return (sum(size for _, size in self.observations),)

  def read(self, order: tf.Tensor, skip: tf.Tensor) -> tf.data.Dataset:
    """The serialised episodes of the shards in the given order, without the first `skip`.

    Args:
      order: [num_shards] int32.
      skip: int64 scalar; whole shards are skipped without being read.
    """
    takes = tf.gather(self._column("take"), order)
    first = tf.reduce_sum(tf.cast(tf.cumsum(takes) <= skip, tf.int32))  # shard not skipped
    shards = tf.data.Dataset.from_tensor_slices(order[first:])
    return shards.flat_map(self._read_shard).skip(skip - tf.reduce_sum(takes[:first]))

  def numbers(self, order: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """[N] int64: the numbers in the split of those episodes that `read` gives at [N] positions."""
    takes = tf.gather(self._column("take"), order)
    shard = tf.searchsorted(tf.cumsum(takes), positions, side="right")
    starts = tf.cumsum(takes, exclusive=True)
    firsts = tf.gather(self._column("first_number"), order)
    return positions + tf.gather(firsts - starts, shard)

  def _column(self, name: str) -> tf.Tensor:
    return tf.constant([getattr(shard, name) for shard in self.shards], tf.int64)

  def _read_shard(self, index: tf.Tensor) -> tf.data.Dataset:
    path = tf.gather(tf.constant([shard.path for shard in self.shards]), index)
    skip, take = (tf.gather(self._column(name), index) for name in ("skip", "take"))
    return tf.data.TFRecordDataset(path, buffer_size=1 << 20).skip(skip).take(take)

  def parse(self, numbers: tf.Tensor, serialized: tf.Tensor) -> TrajectoryBatch:
    """[G] episode numbers and serialised episodes -> TrajectoryBatch, padded to the longest."""
    stored = tf.float32 if self.dtype.is_floating else tf.int64
    spec = {key: tf.io.RaggedFeature(stored) for key, _ in self.observations}
    parsed = tf.io.parse_example(serialized, spec)
    first_key, first_size = self.observations[0]
    lengths = tf.cast(parsed[first_key].row_lengths() // first_size, tf.int32)
    if self.drop_last_step:
      lengths -= 1
    self._check_lengths(numbers, lengths)
    parts = []
    for key, size in self.observations:
      dense = tf.cast(parsed[key].to_tensor(), self.dtype)
      parts.append(tf.reshape(dense, [tf.shape(dense)[0], -1, size]))
    return TrajectoryBatch(tf.concat(parts, axis=-1), lengths, numbers)

  def _check_lengths(self, numbers: tf.Tensor, lengths: tf.Tensor) -> None:
    short = tf.where(lengths < _MIN_STATES)[:, 0]
    tf.debugging.Assert(
      tf.size(short) == 0,
      [
        f"{self.description}: an episode needs at least {_MIN_STATES} states to give a pair; "
        "numbers and lengths of the short ones:",
        tf.gather(numbers, short),
        tf.gather(lengths, short),
      ],
    )


def open_directory(directory: str, split: str, puzzle: puzzles.Puzzle) -> RecordedEpisodes:
  """Opens a prepared dataset directory and checks that it holds trajectories of this puzzle."""
  import tensorflow_datasets as tfds

  if not os.path.isdir(directory):
    raise DatasetError(
      f"no dataset directory {directory}; build one with: tfds build datasets/{puzzle.name}"
    )
  if not os.path.isfile(os.path.join(directory, "dataset_info.json")):
    raise DatasetError(
      f"{directory} is no complete TFDS dataset (it has no dataset_info.json); the path must end "
      f"in config and version, and the build must have finished: tfds build datasets/{puzzle.name}"
    )
  builder = tfds.builder_from_directory(directory)
  _check_puzzle(directory, builder, puzzle)
  return _open(builder, directory, split, observation_keys=None, drop_last_step=False)


def open_named(
  name: str,
  split: str,
  data_dir: str | None,
  observation_keys: tuple[str, ...] | None,
  drop_last_step: bool,
) -> RecordedEpisodes:
  """Opens an RLDS dataset by the name under which TFDS knows it."""
  import tensorflow_datasets as tfds

  try:
    builder = tfds.builder(name, data_dir=data_dir)
  except tfds.core.DatasetNotFoundError as error:
    raise DatasetError(f"TFDS knows no dataset {name!r}.") from error
  if not builder.is_prepared():
    place = f" --data_dir={data_dir}" if data_dir else ""
    raise DatasetError(
      f"dataset {name} is not prepared in {builder.data_dir}; fetch it with: "
      f"tfds build {name}{place}"
    )
  return _open(builder, name, split, observation_keys, drop_last_step)


def _check_puzzle(
  directory: str, builder: "tfds.core.DatasetBuilder", puzzle: puzzles.Puzzle
) -> None:
  recorded = (builder.info.metadata or {}).get("puzzle")
  if recorded is None:
    raise DatasetError(
      f"{directory} does not say which puzzle it holds; it was not built by crtr_tf."
    )
  expected = puzzles.describe(puzzle)
  differences = [
    f"{key} is {recorded.get(key)!r} there and {value!r} here"
    for key, value in expected.items()
    if recorded.get(key) != value
  ]
  if differences:
    raise DatasetError(f"{directory} holds another puzzle: {'; '.join(differences)}.")


def _open(
  builder: "tfds.core.DatasetBuilder",
  description: str,
  split: str,
  observation_keys: tuple[str, ...] | None,
  drop_last_step: bool,
) -> RecordedEpisodes:
  if split.split("[")[0] not in builder.info.splits:
    raise DatasetError(
      f"{description} has no split {split!r}; it has {sorted(builder.info.splits)}."
    )
  instructions = builder.info.splits[split].file_instructions
  shards, number = [], 0
  for instruction in instructions:
    _check_shard(os.fspath(instruction.filename), instruction.examples_in_shard)
    shards.append(
      Shard(os.fspath(instruction.filename), instruction.skip, instruction.take, number)
    )
    number += instruction.take
  observations, dtype = _observation_features(builder, description, observation_keys)
  return RecordedEpisodes(description, tuple(shards), observations, dtype, drop_last_step)


def _observation_features(
  builder: "tfds.core.DatasetBuilder", description: str, keys: tuple[str, ...] | None
) -> tuple[tuple[tuple[str, int], ...], tf.DType]:
  """The serialised features of an observation, with their sizes, and the dtype of a state."""
  import tensorflow_datasets as tfds

  features = builder.info.features
  if "steps" not in features or "observation" not in features["steps"].feature:
    raise DatasetError(f"{description} is not in the RLDS schema: it has no steps/observation.")
  observation = features["steps"].feature["observation"]
  if isinstance(observation, tfds.features.FeaturesDict):
    if not keys or set(keys) - set(observation):
      raise DatasetError(
        f"observations of {description} are a dictionary: observation_keys must name some of "
        f"{sorted(observation)}; got {keys}."
      )
    chosen = {f"steps/observation/{key}": observation[key] for key in keys}
  elif keys:
    raise DatasetError(f"observations of {description} are no dictionary; got keys {keys}.")
  else:
    chosen = {"steps/observation": observation}
  for key, feature in chosen.items():
    if type(feature) not in (tfds.features.Tensor, tfds.features.Scalar) or None in feature.shape:
      raise DatasetError(f"{key} of {description} is no numeric tensor of fixed shape: {feature}.")
  is_cells = all(np.dtype(feature.np_dtype) == np.uint8 for feature in chosen.values())
  is_float = all(np.issubdtype(feature.np_dtype, np.floating) for feature in chosen.values())
  if not (is_cells or is_float):
    kinds = sorted({str(np.dtype(feature.np_dtype)) for feature in chosen.values()})
    raise DatasetError(
      f"observations of {description} must be all uint8 or all float; got {kinds}."
    )
  sizes = tuple((key, int(np.prod(feature.shape, dtype=int))) for key, feature in chosen.items())
  return sizes, tf.uint8 if is_cells else tf.float32


@functools.lru_cache(maxsize=4096)
def _check_shard(path: str, expected: int) -> None:
  """Walks the record headers, so that a shard that was cut short is noticed before training."""
  try:
    size = os.path.getsize(path)
  except OSError as error:
    raise DatasetError(f"shard {path} is missing: build the dataset again.") from error
  found, position = 0, 0
  with open(path, "rb") as file:
    while position + _RECORD_HEADER.size <= size:
      file.seek(position)
      length, _ = _RECORD_HEADER.unpack(file.read(_RECORD_HEADER.size))
      position += _RECORD_HEADER.size + length + _CHECKSUM_BYTES
      found += position <= size
  if position != size or found != expected:
    raise DatasetError(
      f"shard {path} is damaged: {found} whole episodes of {expected} in its {size} bytes; "
      "build the dataset again."
    )
