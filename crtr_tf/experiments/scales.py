"""How large experiments are: the paper's scale, two cores and minutes, or a test's seconds."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from crtr_tf.experiments.tasks import ROBOTICS

_CPU_TRAINING = {  # steps, a minute or two on two cores, and how often curves get a point
  "digit_jumper": (1000, 100),
  "n_puzzle": (4000, 500),
  "rubiks_cube": (1500, 500),
  "lights_out": (4000, 500),
  "sokoban": (1200, 100),
}
_PUZZLES = ("sokoban", "rubiks_cube", "n_puzzle", "lights_out", "digit_jumper")
_TOP_K = {"lights_out": 10}  # the paper limits the expansion of Lights Out


@dataclasses.dataclass(frozen=True)
class Scale:
  """The size of everything.

  Attributes:
    name: of the scale.
    folder: of the gin files.
    puzzles: that results on all puzzles are about, in the order of the paper.
    layers: gin files that come after the experiment's, by puzzle.
    bindings: for all runs of a puzzle, by its name.
    dataset: of recorded trajectories, by puzzle: the name of a config or arguments of one.
    num_seeds: by default.
    num_instances: of each search.
    budgets: of nodes, by puzzle.
    max_steps: of greedy walks.
    difficulty: arguments of the puzzle for evaluation instances, by puzzle.
    num_trajectories: held-out ones.
    jit_compile: whether XLA compiles searches; not worth it for seconds.
    run_seconds, search_seconds: roughly what a training and a search take, for estimates.
    shrunk: what differs from the paper, in a sentence or two.
  """

  name: str
  folder: str
  puzzles: tuple[str, ...]
  bindings: Mapping[str, tuple[str, ...]]
  dataset: Mapping[str, str | Mapping[str, Any]]
  num_seeds: int
  num_instances: int
  budgets: Mapping[str, int]
  max_steps: int
  difficulty: Mapping[str, tuple[tuple[str, Any], ...]]
  num_trajectories: int
  jit_compile: bool
  run_seconds: float
  search_seconds: float
  shrunk: str
  layers: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

  def settings(self, puzzle: str) -> dict[str, Any]:
    """The search that runs of a puzzle are compared with."""
    return {
      "solver": "bestfs",
      "budget": self.budgets[puzzle],
      "top_k": _TOP_K.get(puzzle),
      "max_steps": self.max_steps,
    }


def training_bindings(steps: int, log_every: int, evaluate_every: int) -> tuple[str, ...]:
  """How long runs are, and how often they say how it goes."""
  return (
    f"train.num_steps = {steps}",
    f"train.log_every = {log_every}",
    f"train.evaluate_every = {evaluate_every}",
    f"train.checkpoint_every = {evaluate_every}",
    "train.evaluators = ()",
    "train.pictures = False",
  )


PAPER = Scale(
  name="paper",
  folder="paper",
  puzzles=_PUZZLES,
  bindings={},
  dataset={"sokoban": "paper"},
  num_seeds=5,
  num_instances=1000,
  budgets={name: 6000 for name in _PUZZLES},
  max_steps=6000,
  difficulty={},
  num_trajectories=100,
  jit_compile=True,
  run_seconds=48 * 3600,
  search_seconds=3600,
  shrunk="Nothing: the paper's networks, steps and budgets. Meant for A100s.",
)

CPU = Scale(
  name="cpu",
  folder="cpu",
  puzzles=_PUZZLES,
  bindings={
    name: (*training_bindings(steps, 100, evaluate_every), "train.batch_size = 512")
    for name, (steps, evaluate_every) in _CPU_TRAINING.items()
  },
  dataset={"sokoban": "small"},
  num_seeds=1,
  num_instances=200,
  budgets={
    "digit_jumper": 100,  # of the 400 states that a board has
    "n_puzzle": 1000,
    "rubiks_cube": 1000,
    "lights_out": 1000,
    "sokoban": 1000,
  },
  max_steps=500,
  difficulty={"rubiks_cube": (("evaluation_moves", 8),)},
  num_trajectories=100,
  jit_compile=True,
  run_seconds=150,
  search_seconds=15,
  shrunk=(
    "Networks of two hidden layers (256 or 512 wide) and 1,000 to 4,000 steps in place of eight "
    "layers and two days of an A100; 200 instances; at most 1,000 nodes (100 in Digit Jumper) and "
    "500 greedy moves in place of 6,000; cubes scrambled by 8 moves in place of 1,000; Lights Out "
    "on 5x5; Sokoban trained on 5,000 levels with a dense network."
  ),
)

TINY = Scale(
  name="tiny",
  folder="cpu",
  puzzles=("sokoban", "rubiks_cube"),
  bindings={
    "digit_jumper": ("DigitJumper.height = 5", "DigitJumper.width = 5"),
    "n_puzzle": ("NPuzzle.size = 3", "NPuzzle.trajectory_moves = 8"),
    "rubiks_cube": ("RubiksCube.trajectory_moves = 6", "dense_encoder.first_width = 16"),
    "lights_out": (
      "LightsOut.height = 3",
      "LightsOut.width = 3",
      "LightsOut.trajectory_moves = 5",
    ),
    "sokoban": ("Sokoban.height = 7", "Sokoban.width = 7", "Sokoban.num_boxes = 1"),
    ROBOTICS: ("rlds_trajectories.drop_last_step = False", "train.num_held_out = 2"),
  },
  dataset={
    "sokoban": {
      "puzzle": {"height": 7, "width": 7, "num_boxes": 1},
      "num_train": 48,
      "num_test": 24,
    },
    ROBOTICS: "lights_out/tiny",  # any RLDS dataset will do
  },
  num_seeds=1,
  num_instances=8,
  budgets={name: 50 for name in _PUZZLES},
  max_steps=10,
  difficulty={"rubiks_cube": (("evaluation_moves", 2),)},
  num_trajectories=16,
  jit_compile=False,
  run_seconds=5,
  search_seconds=3,
  shrunk="Everything, to see that it runs: the numbers mean nothing.",
)
_TINY_TRAINING = (
  *training_bindings(steps=4, log_every=2, evaluate_every=2),
  "train.batch_size = 16",
  "train.jit_compile = False",
  "train.num_held_out = 16",
  "dense_encoder.width = 16",
  "adam.warmup_steps = 1",
)
TINY = dataclasses.replace(
  TINY, bindings={name: (*_TINY_TRAINING, *more) for name, more in TINY.bindings.items()}
)

SCALES = {scale.name: scale for scale in (CPU, PAPER, TINY)}


def some(values: Sequence[Any], scale: Scale) -> Sequence[Any]:
  """All values of a choice; of a test, one is enough to see that it runs."""
  return values[:1] if scale.name == TINY.name else values
