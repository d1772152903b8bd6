"""What results are made of: trainings, searches with a trained model, and measures of it.

In the place of a training there may be a released model.

Tasks are plain values. Their hash, with the scale's bindings in it, is where their outcome is kept;
so two results that ask for the same task share it.
"""

import dataclasses
import hashlib
from typing import Any

METHODS = ("crtr", "crl", "supervised", "davi", "random")
CONTRASTIVE = ("crtr", "crl")
ROBOTICS = "robotics"  # takes the place of a puzzle where trajectories are no puzzle's
_RANDOM_LAYER = "gin/training/random.gin"


@dataclasses.dataclass(frozen=True)
class Run:
  """One training.

  Attributes:
    puzzle: its name, or ROBOTICS.
    method: one of METHODS.
    seed: of weights and batches.
    bindings: gin bindings that make it differ from the experiment of this puzzle and method.
  """

  puzzle: str
  method: str
  seed: int = 0
  bindings: tuple[str, ...] = ()

  def config_files(self, folder: str) -> list[str]:
    """The gin files of the experiment; `folder` is "cpu" or "paper"."""
    if self.puzzle == ROBOTICS:
      return [f"gin/robotics/{folder}_{self.method}.gin"]
    if self.method == "random":
      return [f"gin/{folder}/{self.puzzle}_crtr.gin", _RANDOM_LAYER]
    return [f"gin/{folder}/{self.puzzle}_{self.method}.gin"]

  def __str__(self) -> str:
    more = f" ({', '.join(self.bindings)})" if self.bindings else ""
    return f"{self.method} for {self.puzzle}, seed {self.seed}{more}"


@dataclasses.dataclass(frozen=True)
class Released:
  """A model that comes with the package, whatever the scale.

  Attributes:
    puzzle: its name.
    method: "crtr", or "crl" for the twin that was trained alike.
  """

  puzzle: str
  method: str = "crtr"

  @property
  def name(self) -> str:
    """What `export.find` knows it by."""
    return self.puzzle if self.method == "crtr" else f"{self.puzzle}_{self.method}"

  def __str__(self) -> str:
    return f"the released {self.name}"


@dataclasses.dataclass(frozen=True)
class Search:
  """A set of instances, searched with the model of a run.

  Attributes:
    run: what was trained.
    settings: of `export.SolverSettings`, that differ from the scale's; for a released model, from
      those that it recommends.
    difficulty: arguments of the puzzle that make its instances easier or harder, such as the number
      of moves of a scramble.
    num_instances: how many, if not as many as the scale has.
  """

  run: Run | Released
  settings: tuple[tuple[str, Any], ...] = ()
  difficulty: tuple[tuple[str, Any], ...] = ()
  num_instances: int | None = None


@dataclasses.dataclass(frozen=True)
class Measure:
  """How well the distances of a run's model tell time; see `evaluation.evaluate.represent`."""

  run: Run | Released


Task = Run | Released | Search | Measure


def fingerprint(*parts: Any) -> str:
  """A short name for values: the same for equal ones, in any process."""
  return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]
