"""What the dataset builders of all puzzles share."""

import dataclasses
import functools
import inspect
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import tensorflow_datasets as tfds
from etils import epath
from tensorflow_datasets.core import dataset_builder

from crtr_tf.datasets import episodes, execution, shards

if TYPE_CHECKING:
  from crtr_tf import puzzles

# Episode e of a split is trajectory e of the split's seed. Large numbers, so that a training run
# that simulates its trajectories with a small seed never meets the test split.
SPLIT_SEEDS = {"train": 1_000_000_000, "test": 1_000_000_001}

HOMEPAGE = "https://arxiv.org/abs/2508.13113"


@dataclasses.dataclass(eq=False, kw_only=True)
class PuzzleConfig(tfds.core.BuilderConfig):
  """Which puzzle, and how many episodes of it.

  Attributes:
    puzzle: the puzzle, or arguments for the constructor of the one that the builder is named after;
      arguments can also be given on the command line, see the README.
    num_train: episodes of the train split.
    num_test: episodes of the test split.
    use_beam: whether to build with Apache Beam even if no Beam options are given.
    episodes_per_shard: None for as many as fit into a file of reasonable size. Smaller shards let
      more processes take part.
  """

  puzzle: "puzzles.Puzzle | Mapping[str, Any]" = dataclasses.field(default_factory=dict)
  num_train: int
  num_test: int
  use_beam: bool = False
  episodes_per_shard: int | None = None

  def __post_init__(self) -> None:
    for field in ("num_train", "num_test", "episodes_per_shard"):
      value = getattr(self, field)
      if value is not None and value < 1:
        raise ValueError(f"{field} of config {self.name} must be at least 1; got {value}.")

  @property
  def num_episodes(self) -> dict[str, int]:
    return {"train": self.num_train, "test": self.num_test}


def describe(puzzle: "puzzles.Puzzle") -> dict[str, Any]:
  """All there is to know about the puzzle of a dataset, as JSON has it.

  What `puzzles.describe` gives, plus `action_names`, `max_trajectory_states`, and `parameters`, the
  arguments of the constructor.
  """
  from crtr_tf import puzzles

  description = {
    **puzzles.describe(puzzle),
    "action_names": puzzle.action_names,
    "max_trajectory_states": puzzle.max_trajectory_states,
    "parameters": puzzles.parameters(puzzle),
  }
  return json.loads(json.dumps(description))  # equal to what a dataset gives back


class TrajectoryBuilder(dataset_builder.FileReaderBuilder, skip_registration=True):
  """Writes the trajectories of a puzzle as RLDS episodes.

  A subclass has the name of its puzzle, and a version and configs of its own. TFDS's builders
  encode every step of every example in Python; this one writes whole shards itself, from tasks that
  can be worked off anywhere.
  """

  _sources: ClassVar[set[tuple[epath.Path, str]]] = set()  # files and names of the subclasses

  def __init_subclass__(cls, skip_registration: bool = False, **kwargs: Any) -> None:
    # TFDS derives these paths from the name of the module, which in a checkout leads astray.
    file = epath.Path(inspect.getfile(cls)).resolve()
    cls.code_path = file
    cls.pkg_dir_path = file.parent  # of README and citation
    # A checkout can import the same file as `datasets.<name>` and as `crtr_tf.datasets.<name>`.
    source = (file, cls.__qualname__)
    super().__init_subclass__(skip_registration or source in cls._sources, **kwargs)
    cls._sources.add(source)

  def __init__(self, **kwargs: Any) -> None:
    super().__init__(**kwargs)
    if self.info.initialized:  # from a directory
      self._check_puzzle_of_directory()

  @functools.cached_property
  def puzzle(self) -> "puzzles.Puzzle":
    from crtr_tf import puzzles

    given = self.builder_config.puzzle
    puzzle = puzzles.PUZZLES[self.name](**given) if isinstance(given, Mapping) else given
    if puzzle.name != self.name:
      raise ValueError(
        f"config {self.builder_config.name} of {self.name} must have a puzzle of that name; "
        f"got {puzzle.name}."
      )
    return puzzle

  def _info(self) -> tfds.core.DatasetInfo:
    metadata = {"puzzle": describe(self.puzzle), "split_seeds": dict(SPLIT_SEEDS)}
    return self.dataset_info_from_configs(
      features=episodes.rlds_features(self.puzzle),
      homepage=HOMEPAGE,
      metadata=tfds.core.MetadataDict(metadata),
    )

  def _check_puzzle_of_directory(self) -> None:
    """A custom config may have the name of another one that was built before."""
    recorded, expected = self.info.metadata["puzzle"], describe(self.puzzle)
    if recorded != expected:
      raise ValueError(
        f"{self.data_dir} holds {self.name} with parameters {recorded['parameters']}, not "
        f"{expected['parameters']}; choose another name for the config, or another data_dir."
      )

  def _download_and_prepare(
    self,
    dl_manager: tfds.download.DownloadManager,
    download_config: tfds.download.DownloadConfig | None = None,
  ) -> None:
    del dl_manager  # There is nothing to download.
    download_config = download_config or tfds.download.DownloadConfig()
    if download_config.max_examples_per_split == 0:
      return  # By TFDS's convention this asks for the downloads only.
    most = download_config.max_examples_per_split or sys.maxsize
    tasks = self._plan({s: min(n, most) for s, n in self.builder_config.num_episodes.items()})
    self._run([task for split in tasks.values() for task in split], download_config)
    infos = [self._split_info(split, split_tasks) for split, split_tasks in tasks.items()]
    self.info.set_splits(tfds.core.SplitDict(infos))

  def _plan(self, num_episodes: Mapping[str, int]) -> dict[str, list[shards.ShardTask]]:
    return {
      split: shards.plan_shards(
        puzzle=self.puzzle,
        seed=SPLIT_SEEDS[split],
        num_episodes=number,
        episodes_per_shard=self.builder_config.episodes_per_shard,
        chunk=min(shards.chunk_size(self.puzzle), max(num_episodes.values())),
        template=self._get_filename_template(split_name=split),
        file_format=self.info.file_format.value,
      )
      for split, number in num_episodes.items()
    }

  def _run(
    self, tasks: list[shards.ShardTask], download_config: tfds.download.DownloadConfig
  ) -> None:
    options, runner = download_config.beam_options, download_config.beam_runner
    if self.builder_config.use_beam or options or runner:
      execution.run_with_beam(tasks, options, runner)
    else:
      execution.run_locally(tasks)

  def _split_info(self, split: str, tasks: list[shards.ShardTask]) -> tfds.core.SplitInfo:
    return tfds.core.SplitInfo(
      name=split,
      shard_lengths=[task.num_episodes for task in tasks],
      num_bytes=sum(epath.Path(task.path).stat().length for task in tasks),
      filename_template=self._get_filename_template(split_name=split),
    )
