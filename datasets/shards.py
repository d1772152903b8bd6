"""Cuts a split into shards, and writes one shard.

A shard is a range of episodes. Its task says all there is to know and is small, so it can be worked
off in this process, in another one or on another machine, and the file comes out the same.
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from etils import epath
from tensorflow_datasets.core import file_adapters
from tensorflow_datasets.core import utils as tfds_utils

from crtr_tf.datasets import episodes

if TYPE_CHECKING:
  from tensorflow_datasets.core import naming

  from crtr_tf import puzzles

SHARD_BYTES = 64 << 20  # the most that a shard holds
CHUNK_BYTES = 8 << 20  # about how much state is generated at a time


@dataclasses.dataclass(frozen=True)
class ShardTask:
  """Episodes first .. stop - 1 of a seed, to be written to one file.

  The puzzle travels as its class and arguments: its tables can be large.
  """

  puzzle_class: "type[puzzles.Puzzle]"
  puzzle_parameters: tuple[tuple[str, Any], ...]
  seed: int
  first: int
  stop: int
  chunk: int  # episodes generated at a time
  path: str
  file_format: str

  @property
  def num_episodes(self) -> int:
    return self.stop - self.first


def plan_shards(
  puzzle: "puzzles.Puzzle",
  seed: int,
  num_episodes: int,
  episodes_per_shard: int | None,
  chunk: int,
  template: "naming.ShardedFileTemplate",
  file_format: str,
) -> list[ShardTask]:
  """The tasks of a split, in the order of its shards.

  Args:
    puzzle: what to generate.
    seed: of the split.
    num_episodes: of the split, at least 1.
    episodes_per_shard: None for as many as fit into SHARD_BYTES.
    chunk: episodes to generate at a time; best the same for all splits, as each compiles anew.
    template: names the files of the split.
    file_format: one of `tfds.core.FileFormat`.
  """
  from crtr_tf import puzzles

  if episodes_per_shard is None:
    # Whole chunks: of the last one of a shard, what is too much is made in vain.
    episodes_per_shard = max(1, SHARD_BYTES // episodes.largest_record(puzzle) // chunk) * chunk
  firsts = range(0, num_episodes, episodes_per_shard)
  parameters = tuple(puzzles.parameters(puzzle).items())
  return [
    ShardTask(
      puzzle_class=type(puzzle),
      puzzle_parameters=parameters,
      seed=seed,
      first=first,
      stop=min(first + episodes_per_shard, num_episodes),
      chunk=chunk,
      path=str(template.sharded_filepath(shard_index=index, num_shards=len(firsts))),
      file_format=file_format,
    )
    for index, first in enumerate(firsts)
  ]


def chunk_size(puzzle: "puzzles.Puzzle") -> int:
  """How many episodes to generate at a time, a power of two."""
  state_bytes = puzzle.max_trajectory_states * puzzle.state_size
  return 1 << max(0, (CHUNK_BYTES // state_bytes).bit_length() - 1)


def write_shard(task: ShardTask) -> None:
  """Generates the episodes of a shard and writes its file, which appears when it is complete."""
  adapter = file_adapters.ADAPTER_FOR_FORMAT[file_adapters.FileFormat(task.file_format)]
  with tfds_utils.incomplete_file(epath.Path(task.path)) as temporary:
    adapter.write_examples(temporary, _keyed_records(task))


def _keyed_records(task: ShardTask) -> Iterator[tuple[int, bytes]]:
  """Episode numbers with their serialized episodes."""
  import tensorflow as tf

  puzzle = _make_puzzle(task.puzzle_class, task.puzzle_parameters)
  for first in range(task.first, task.stop, task.chunk):
    # Always a whole chunk: XLA compiles anew for every batch size, which takes longer.
    numbers = np.arange(first, first + task.chunk, dtype=np.int64)
    trajectories = puzzle.trajectories(task.seed, tf.constant(numbers))
    wanted = numbers[: task.stop - first]
    yield from zip(
      wanted.tolist(), episodes.serialize(trajectories, task.seed, wanted), strict=True
    )


@functools.lru_cache(maxsize=8)
def _make_puzzle(
  puzzle_class: "type[puzzles.Puzzle]", parameters: tuple[tuple[str, Any], ...]
) -> "puzzles.Puzzle":
  """One puzzle for all shards of a process: what it has compiled is used again."""
  return puzzle_class(**dict(parameters))
