"""What a model directory says about itself: `assets.extra/crtr.json`."""

import dataclasses
import json
import pathlib
from typing import Any, Self

from crtr_tf import puzzles

FILE = pathlib.PurePath("assets.extra", "crtr.json")  # where TensorFlow leaves room for such things
HISTORY = FILE.with_name("metrics.csv")  # what was logged while training: step, metric, value
FORMAT = 1  # raised when a file of today could no longer be read


class ModelError(ValueError):
  """A model directory that cannot be used; the message says why and what to do."""


@dataclasses.dataclass(frozen=True)
class SolverSettings:
  """How to search with a model, as far as it is not left to the solver.

  Attributes:
    solver: "bestfs", "astar", "greedy" or "beam".
    budget: of nodes, for best-first search and A*.
    alpha: weight of the depth in A*, in units of the model's distance; "auto" calibrates these to
      steps, so that a step of depth weighs one.
    weight: of the calibrated distance against the depth, for alpha "auto".
    top_k: children kept of a node, None for all.
    expand_batch: nodes expanded at once.
    beam_width: of beam search.
    max_steps: of a greedy walk, and the most layers of a beam.
    symmetries: over how many views of a state its distance is averaged, see
      `search.symmetry_averaged`.
  """

  solver: str = "bestfs"
  budget: int = 6000
  alpha: float | str = 0.0
  weight: float = 1.0
  top_k: int | None = None
  expand_batch: int = 1
  beam_width: int = 1024
  max_steps: int = 200
  symmetries: int = 1


@dataclasses.dataclass(frozen=True)
class Training:
  """How a model came to be.

  Attributes:
    method: "crtr", "crl", "supervised", "davi" or "random".
    steps: of training.
    seconds: spent on them.
    config: the operative gin configuration.
  """

  method: str
  steps: int = 0
  seconds: float | None = None
  config: str = ""


@dataclasses.dataclass(frozen=True)
class Metadata:
  """All of it.

  Attributes:
    puzzle: `puzzles.describe` and the `parameters` of the constructor.
    training: how the model came to be.
    metric: that compares representations, None for methods without.
    representation_dim: their size, None for methods without.
    solver: the settings that the `solve` signature has and that are recommended.
    calibration: `distances` and the `steps` that they mean, both increasing; None if not known.
    jit_on_cpu: whether XLA makes the network faster on a CPU.
    weights: hash of the weights, which tells models apart.
    versions: of the packages that wrote it.
  """

  puzzle: dict[str, Any]
  training: Training
  metric: str | None
  representation_dim: int | None
  solver: SolverSettings
  calibration: dict[str, list[float]] | None
  jit_on_cpu: bool
  weights: str
  versions: dict[str, str]

  def make_puzzle(self) -> puzzles.Puzzle:
    return puzzles.PUZZLES[self.puzzle["name"]](**self.puzzle["parameters"])

  def as_json(self) -> str:
    return json.dumps({"format": FORMAT, **dataclasses.asdict(self)}, indent=2) + "\n"

  @classmethod
  def read(cls, directory: pathlib.Path) -> Self:
    """Reads and checks the file of a model directory.

    Raises:
      ModelError: if there is none, or one that this package cannot use.
    """
    path = directory / FILE
    if not path.is_file():
      raise ModelError(
        f"{directory} has no {FILE}: it was not written by crtr-export. Export the run again."
      )
    try:
      values = json.loads(path.read_text())
    except ValueError as error:
      raise ModelError(f"{path} is no JSON ({error}). Export the run again.") from None
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
      raise ModelError(
        f"{path} has another format than {FORMAT}, the one of this version of crtr_tf. "
        "Export the run again."
      )
    try:
      metadata = cls(
        **{
          **values,
          "training": Training(**values["training"]),
          "solver": SolverSettings(**values["solver"]),
        }
      )
      _check_puzzle(metadata, path)
    except (TypeError, KeyError) as error:
      raise ModelError(f"{path} is not complete ({error}). Export the run again.") from None
    return metadata


def _check_puzzle(metadata: Metadata, path: pathlib.Path) -> None:
  name = metadata.puzzle["name"]
  if name not in puzzles.PUZZLES:
    raise ModelError(f"{path} is for the puzzle {name!r}; known are {', '.join(puzzles.PUZZLES)}.")
  try:
    made = puzzles.describe(metadata.make_puzzle())
  except ValueError as error:
    raise ModelError(f"{path} has parameters that {name} refuses: {error}") from None
  for key, value in made.items():
    if metadata.puzzle[key] != value:
      raise ModelError(
        f"{path} is for {name} with {key} {metadata.puzzle[key]}; this version of crtr_tf has "
        f"{value}."
      )
