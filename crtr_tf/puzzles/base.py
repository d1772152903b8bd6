"""What every puzzle offers: the interface that data, search and evaluation are written against.

Axes: B states or problems, T time steps, A actions, S cells. A state is a flat row of S uint8
cells; `board_shape` says how to fold it into rows and columns where the puzzle has a board.
"""

import abc
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import hashing

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes

NO_ACTION = -1  # pads the actions of a trajectory behind its last move


class InstanceError(ValueError):
  """A text that is no valid instance or plan of the puzzle; the message gives the reason."""


class Children(NamedTuple):
  """All successors of a batch of states."""

  states: tf.Tensor  # [B, A, S] uint8; equal to the parent where not valid
  valid: tf.Tensor  # [B, A] bool


class Trajectories(NamedTuple):
  """Solving trajectories, forward in time: the last state of each is the goal.

  Trajectories shorter than T repeat their last state and carry NO_ACTION behind it.
  """

  states: tf.Tensor  # [B, T, S] uint8
  actions: tf.Tensor  # [B, T - 1] int32
  lengths: tf.Tensor  # [B] int32, number of states, 2 <= length <= T


class Symmetries(NamedTuple):
  """Ways to look at a puzzle under which it stays the same puzzle: turned, mirrored, renamed.

  Symmetry k sends a state to `values[k][state[cells[k]]]`. The first one changes nothing.
  """

  cells: np.ndarray  # [K, S] int32, where each cell's value comes from
  values: np.ndarray | None = None  # [K, V] uint8, what each value becomes; None for itself


@dataclasses.dataclass(frozen=True)
class ParsedInstances:
  """What a text of several instances held: the good ones as states, the bad ones as messages."""

  states: np.ndarray  # [N, S] uint8, the valid instances
  numbers: tuple[int, ...]  # [N] their 1-based numbers in the text
  errors: tuple[str, ...]  # one line for each invalid instance: "instance 3: reason"


class Puzzle(abc.ABC):
  """Rules, generators, text and drawing of one puzzle; immutable once constructed.

  Tensor methods take a leading batch axis, work eagerly, in graphs and under XLA, and never loop in
  Python over states. An action that is not possible leaves the state as it is.
  """

  name: ClassVar[str]
  board_shape: tuple[int, int] | None = None  # rows and columns of a state, None if it is no board
  state_size: int  # S
  num_values: int  # cells hold 0 .. num_values - 1
  action_names: tuple[str, ...]  # how a plan spells each action
  inverse_actions: np.ndarray | None = None  # [A] the action that undoes each one, if there is one
  max_trajectory_states: int  # T of `trajectories`

  @property
  def num_actions(self) -> int:
    return len(self.action_names)

  # Rules.

  @abc.abstractmethod
  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """[B, S] uint8 states and [B] int32 actions -> [B, S] uint8."""

  @abc.abstractmethod
  def children(self, states: tf.Tensor) -> Children:
    """Applies every action to every state of [B, S]."""

  @abc.abstractmethod
  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    """[B, S] uint8 -> [B] bool."""

  @abc.abstractmethod
  def goal(self, states: tf.Tensor) -> tf.Tensor:
    """The goal state of the instance that each state belongs to: [B, S] -> [B, S] uint8."""

  def hash(self, states: tf.Tensor) -> tf.Tensor:
    """[..., S] uint8 -> [...] int64."""
    return hashing.hash_states(states)

  # Symmetries.

  def symmetries(self) -> Symmetries:
    """Under which states keep their distances and goals stay goals; here only the identity."""
    return Symmetries(np.arange(self.state_size, dtype=np.int32)[None])

  def symmetric_images(self, states: tf.Tensor, numbers: tf.Tensor) -> tf.Tensor:
    """Each state under the symmetry of its number: [B, ..., S], [B] int32 -> [B, ..., S] uint8."""
    cells, values = self.symmetries()
    batch = tf.shape(states)[0]
    flat = tf.reshape(states, [batch, -1, self.state_size])
    images = tf.gather(flat, tf.gather(tf.constant(cells), numbers), axis=2, batch_dims=1)
    if values is not None:
      renamed = tf.gather(tf.constant(values), numbers)
      images = tf.gather(renamed, tf.cast(images, tf.int32), batch_dims=1)
    return tf.reshape(images, tf.shape(states))

  # Generators. Row i depends on (seed, episodes[i]) alone.

  @abc.abstractmethod
  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    """Evaluation instances: [B] int64 numbers -> [B, S] uint8, solvable, none solved already."""

  @abc.abstractmethod
  def trajectories(self, seed: int, episodes: tf.Tensor) -> Trajectories:
    """Training trajectories, from their own stream of random draws: [B] int64 -> Trajectories."""

  # Text.

  @abc.abstractmethod
  def parse_instance(self, text: str) -> np.ndarray:
    """One instance -> [S] uint8. Raises InstanceError with the reason."""

  @abc.abstractmethod
  def format_instance(self, state: np.ndarray) -> str:
    """The inverse of `parse_instance`."""

  def iterate_instances(self, lines: Iterable[str]) -> Iterator[str]:
    """Cuts a file into the texts of its instances: here one per line, blank lines ignored.

    Reads no further than it has to: a file may be larger than memory, or a pipe.
    """
    for line in lines:
      if line.strip():
        yield line.strip()

  def split_instances(self, text: str) -> list[str]:
    """The texts of all instances of a file."""
    return list(self.iterate_instances(text.splitlines()))

  def parse_instances(self, text: str) -> ParsedInstances:
    """Reads all instances of a text; a bad one is reported and does not hide the good ones.

    Raises:
      InstanceError: if the text holds no instance at all.
    """
    texts = self.split_instances(text)
    if not texts:
      raise InstanceError(f"no {self.name} instance found: the input is empty.")
    states, numbers, errors = [], [], []
    for number, one in enumerate(texts, start=1):
      try:
        states.append(self.parse_instance(one))
        numbers.append(number)
      except InstanceError as error:
        errors.append(f"instance {number}: {error}")
    stacked = np.stack(states) if states else np.zeros((0, self.state_size), np.uint8)
    return ParsedInstances(stacked, tuple(numbers), tuple(errors))

  def format_plan(self, start: np.ndarray, actions: Sequence[int]) -> str:
    """Spells a plan in the puzzle's notation; `start` [S] is where it begins."""
    del start  # Only Sokoban's notation depends on the state.
    return " ".join(self.action_names[action] for action in actions)

  def parse_plan(self, text: str) -> list[int]:
    """The inverse of `format_plan`. Raises InstanceError at the first unknown word."""
    by_name = {name: action for action, name in enumerate(self.action_names)}
    plan = []
    for position, word in enumerate(text.split(), start=1):
      if word not in by_name:
        raise InstanceError(
          f"unknown {self.name} move {word!r} at position {position}; "
          f"expected {describe_names(self.action_names)}."
        )
      plan.append(by_name[word])
    return plan

  # Drawing.

  @abc.abstractmethod
  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    """Draws one state [S] into `ax`."""


def describe(puzzle: Puzzle) -> dict[str, object]:
  """What must agree for states of one place to be understood in another; JSON-able."""
  return {
    "name": puzzle.name,
    "state_size": puzzle.state_size,
    "board_shape": list(puzzle.board_shape) if puzzle.board_shape else None,
    "num_values": puzzle.num_values,
    "num_actions": puzzle.num_actions,
  }


def parameters(puzzle: Puzzle) -> dict[str, Any]:
  """The constructor's arguments that make an equal puzzle, read from its attributes."""
  return {name: _parameter(puzzle, name) for name in inspect.signature(type(puzzle)).parameters}


def _parameter(puzzle: Puzzle, name: str) -> Any:
  if hasattr(puzzle, name):
    return getattr(puzzle, name)
  if name in ("height", "width") and puzzle.board_shape:
    return puzzle.board_shape[("height", "width").index(name)]
  raise TypeError(
    f"{type(puzzle).__name__} must keep its argument {name!r} as an attribute of that name, so "
    "that datasets and models can record how it was made."
  )


def describe_names(names: Sequence[str], most: int = 12) -> str:
  """A readable list of names for messages, cut where it gets long."""
  shown = ", ".join(names[:most])
  return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def replay(puzzle: Puzzle, start: np.ndarray, actions: Sequence[int]) -> np.ndarray:
  """The states a plan passes through, `start` [S] included: [len(actions) + 1, S] uint8."""
  apply = _compiled_apply(puzzle)
  states = [tf.constant(start, tf.uint8)[None]]
  for action in actions:
    states.append(apply(states[-1], tf.constant([action], tf.int32)))
  return tf.concat(states, axis=0).numpy()


@functools.lru_cache(maxsize=16)
def _compiled_apply(puzzle: Puzzle) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
  """`puzzle.apply` traced once: a plan is replayed move by move, often thousands of them."""
  return tf.function(puzzle.apply)
