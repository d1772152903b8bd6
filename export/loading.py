"""Reads SavedModels back, with the puzzle they are for and solvers around them."""

import dataclasses
import functools
import os
import pathlib
from typing import Any

import tensorflow as tf

from crtr_tf import puzzles, search
from crtr_tf.export import names, solving
from crtr_tf.export.metadata import Metadata, ModelError


class ExportedModel:
  """A model from a directory; a heuristic that search and evaluation take as they take a live one.

  Attributes:
    metadata: what the directory says about it.
    puzzle: that it is for.
    directory: where it was read.
  """

  def __init__(self, directory: pathlib.Path, metadata: Metadata, saved: Any):
    self.directory = directory
    self.metadata = metadata
    self.puzzle = metadata.make_puzzle()
    self._saved = saved  # keeps the variables alive
    if metadata.representation_dim is not None:
      # Instance attributes: a model without representations must not seem to have them.
      self.embed = lambda states: saved.embed(states)["embeddings"]
      self.embedding_distance = saved.embedding_distance

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """[N, S], [N, S] uint8 -> [N] float32, lower is closer."""
    return self._saved.distance(states, goals)["distances"]

  def solver(
    self,
    num_lanes: int | None = None,
    memory_limit: int | None = None,
    jit_compile: bool = True,
    **settings: Any,
  ) -> search.Solver:
    """A solver with the recommended settings, except for those given; see `SolverSettings`."""
    return solving.make_solver(
      self.puzzle,
      self,
      dataclasses.replace(self.metadata.solver, **settings),
      self.metadata.calibration,
      num_lanes,
      memory_limit,
      jit_compile,
    )


def load(name: str | os.PathLike[str], puzzle: puzzles.Puzzle | None = None) -> ExportedModel:
  """Reads a model.

  Args:
    name: a released name or a directory; see `names.find`.
    puzzle: what the model must be for, None for whatever it is for.

  Raises:
    ModelError: if there is no model, or one that cannot be used.
  """
  directory = names.find(name)
  metadata = Metadata.read(directory)
  if puzzle is not None:
    _check_fits(metadata, puzzle, directory)
  try:
    saved = tf.saved_model.load(str(directory))
  except (OSError, ValueError, tf.errors.OpError) as error:
    reason = str(error).splitlines()[0]
    raise ModelError(f"{directory} cannot be read as a SavedModel: {reason}") from None
  missing = [name for name in ("distance", "solve") if not hasattr(saved, name)]
  if missing:
    raise ModelError(f"{directory} lacks the signatures {', '.join(missing)}. Export it again.")
  return ExportedModel(directory, metadata, saved)


def _check_fits(metadata: Metadata, puzzle: puzzles.Puzzle, directory: pathlib.Path) -> None:
  for key, wanted in puzzles.describe(puzzle).items():
    if metadata.puzzle[key] != wanted:
      raise ModelError(
        f"{directory} is for {metadata.puzzle['name']} with {key} {metadata.puzzle[key]}; "
        f"wanted is {puzzle.name} with {wanted}."
      )


@functools.cache
def load_once(name: str) -> ExportedModel:
  """`load` for callers in a loop, such as the workers of a bulk evaluation."""
  return load(name)
