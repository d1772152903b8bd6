"""The methods of the paper: how each makes its model and its batches."""

import abc
import dataclasses
from collections.abc import Callable
from typing import NamedTuple, Self

import tensorflow as tf

from crtr_tf import data, models, puzzles
from crtr_tf.data.pipeline import TrajectorySource


class StateSpec(NamedTuple):
  """What an encoder must know of the states it is for."""

  size: int  # S
  num_values: int | None  # None for continuous states
  board_shape: tuple[int, int] | None  # None if the state is no board
  max_states: int | None  # of a trajectory, where that is known

  @classmethod
  def of(cls, source: TrajectorySource, puzzle: puzzles.Puzzle | None) -> Self:
    """From the puzzle; for trajectories of something else, from the trajectories."""
    if puzzle is None:
      return cls(source.state_shape[0], None, None, None)
    return cls(
      puzzle.state_size, puzzle.num_values, puzzle.board_shape, puzzle.max_trajectory_states
    )


EncoderFn = Callable[[StateSpec], models.Encoder]


def dense_encoder(
  spec: StateSpec,
  width: int = 512,
  depth: int = 8,
  representation_dim: int = 64,
  first_width: int | None = None,
  dtype: str = "float32",
) -> models.Encoder:
  """A residual dense encoder that fits the states; see `models.ResidualDenseEncoder`."""
  return models.ResidualDenseEncoder(
    spec.num_values, width, depth, representation_dim, first_width, dtype=dtype
  )


def conv_encoder(
  spec: StateSpec,
  width: int = 64,
  depth: int = 8,
  representation_dim: int = 64,
  dtype: str = "float32",
  first_stride: int = 1,
  flatten: bool = False,
) -> models.Encoder:
  """A residual convolutional encoder that fits the boards; see `models.ResidualConvEncoder`."""
  if spec.board_shape is None or spec.num_values is None:
    raise ValueError(
      f"a convolutional encoder needs states that are boards; got states of {spec.size} values "
      "without rows and columns. Use dense_encoder."
    )
  return models.ResidualConvEncoder(
    spec.board_shape,
    spec.num_values,
    width,
    depth,
    representation_dim,
    first_stride=first_stride,
    flatten=flatten,
    dtype=dtype,
  )


@dataclasses.dataclass(frozen=True)
class Method(abc.ABC):
  """Makes a model and feeds it.

  Attributes:
    encoder: makes the encoder for given states.
  """

  encoder: EncoderFn

  @property
  @abc.abstractmethod
  def name(self) -> str:
    """As in the paper's tables, in lower case."""

  @property
  def rows_per_group(self) -> int:
    """Adjacent rows of a batch that must stay on one replica."""
    return 1

  @property
  def is_trained(self) -> bool:
    return True

  @abc.abstractmethod
  def make_model(self, spec: StateSpec, puzzle: puzzles.Puzzle | None) -> models.HeuristicModel:
    """A new model for such states, not built yet."""

  @abc.abstractmethod
  def batches(
    self, source: TrajectorySource, batch_size: int, seed: int, first_step: int
  ) -> tf.data.Dataset:
    """Endless training batches from the given step on."""


@dataclasses.dataclass(frozen=True)
class ContrastiveMethod(Method):
  """CRTR, and with repetition_factor=1 CRL; see `models.ContrastiveModel` and `data`."""

  repetition_factor: int = 2
  discount: float = 0.9
  min_offset: int = 1
  negatives: str | None = None
  last_goal_share: float = 0.0
  metric: str = "dot"
  loss_direction: str = "backward"
  temperature: float | None = None
  positive_in_denominator: bool = True
  normalize_negatives: bool = False
  global_negatives: bool = True

  @property
  def name(self) -> str:
    return "crl" if self.repetition_factor == 1 else "crtr"

  @property
  def rows_per_group(self) -> int:
    return self.repetition_factor

  def make_model(self, spec: StateSpec, puzzle: puzzles.Puzzle | None) -> models.ContrastiveModel:
    del puzzle
    return models.ContrastiveModel(
      self.encoder(spec),
      metric=self.metric,
      loss_direction=self.loss_direction,
      temperature=self.temperature,
      positive_in_denominator=self.positive_in_denominator,
      normalize_negatives=self.normalize_negatives,
      global_negatives=self.global_negatives,
    )

  def batches(
    self, source: TrajectorySource, batch_size: int, seed: int, first_step: int
  ) -> tf.data.Dataset:
    return data.contrastive_batches(
      source,
      batch_size,
      self.repetition_factor,
      self.discount,
      seed,
      first_step,
      self.min_offset,
      self.negatives,
      self.last_goal_share,
    )


@dataclasses.dataclass(frozen=True)
class RandomMethod(ContrastiveMethod):
  """The untrained encoder, the paper's lower bound."""

  @property
  def name(self) -> str:
    return "random"

  @property
  def is_trained(self) -> bool:
    return False


@dataclasses.dataclass(frozen=True)
class SupervisedMethod(Method):
  """Distances as classes; see `models.SupervisedModel`.

  Attributes:
    num_bins: None for the number of states of the puzzle's longest trajectory.
    value: "expected" or "argmax".
  """

  num_bins: int | None = None
  value: str = "expected"

  @property
  def name(self) -> str:
    return "supervised"

  def make_model(self, spec: StateSpec, puzzle: puzzles.Puzzle | None) -> models.SupervisedModel:
    del puzzle
    num_bins = self.num_bins or spec.max_states
    if num_bins is None:
      raise ValueError("num_bins must be given where the longest trajectory is not known.")
    return models.SupervisedModel(self.encoder(spec), num_bins, self.value)

  def batches(
    self, source: TrajectorySource, batch_size: int, seed: int, first_step: int
  ) -> tf.data.Dataset:
    return data.supervised_batches(source, batch_size, seed, first_step)


@dataclasses.dataclass(frozen=True)
class ValueIterationMethod(Method):
  """The DeepCubeA baseline; see `models.ValueIterationModel`."""

  update_threshold: float = 0.05
  check_every: int = 100

  @property
  def name(self) -> str:
    return "davi"

  def make_model(
    self, spec: StateSpec, puzzle: puzzles.Puzzle | None
  ) -> models.ValueIterationModel:
    if puzzle is None:
      raise ValueError("value iteration looks ahead by a puzzle's rules; got no puzzle.")
    return models.ValueIterationModel(
      self.encoder(spec), puzzle, self.update_threshold, self.check_every
    )

  def batches(
    self, source: TrajectorySource, batch_size: int, seed: int, first_step: int
  ) -> tf.data.Dataset:
    return data.scrambled_batches(source, batch_size, seed, first_step)
