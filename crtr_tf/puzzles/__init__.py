"""The five puzzles of the paper: exact, batched rules in TensorFlow, generators, text, drawings.

>>> puzzle = puzzles.RubiksCube()
>>> cubes = puzzle.instances(seed=0, episodes=tf.range(100, dtype=tf.int64))  # [100, 54] uint8
>>> children, valid = puzzle.children(cubes)  # [100, 12, 54] uint8, [100, 12] bool
"""

from crtr_tf.puzzles.base import (
  NO_ACTION,
  Children,
  InstanceError,
  ParsedInstances,
  Puzzle,
  Symmetries,
  Trajectories,
  describe,
  parameters,
  replay,
)
from crtr_tf.puzzles.digit_jumper import DigitJumper
from crtr_tf.puzzles.lights_out import LightsOut
from crtr_tf.puzzles.n_puzzle import NPuzzle
from crtr_tf.puzzles.rubiks_cube import RubiksCube
from crtr_tf.puzzles.sokoban import Sokoban

PUZZLES: dict[str, type[Puzzle]] = {
  puzzle.name: puzzle for puzzle in (RubiksCube, Sokoban, NPuzzle, LightsOut, DigitJumper)
}

__all__ = [
  "NO_ACTION",
  "PUZZLES",
  "Children",
  "DigitJumper",
  "InstanceError",
  "LightsOut",
  "NPuzzle",
  "ParsedInstances",
  "Puzzle",
  "RubiksCube",
  "Sokoban",
  "Symmetries",
  "Trajectories",
  "describe",
  "parameters",
  "replay",
]
