"""Reads SavedModels back, with the puzzle they are for and solvers around them."""

import dataclasses
import os
import pathlib
from typing import Any

import tensorflow as tf

from crtr_tf import models, puzzles, search
from crtr_tf.export import names, solving
from crtr_tf.export.metadata import FILE, Metadata, ModelError


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
      self.embedding_distance = lambda x, y: saved.embedding_distance(x, y)["distances"]

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """[N, S], [N, S] uint8 -> [N] float32, lower is closer."""
    return self._saved.distance(states, goals)["distances"]

  def copy_weights(self, encoder: models.Encoder) -> None:
    """Gives a built encoder of the same architecture the weights of this one.

    Raises:
      ModelError: if the architectures differ.
    """
    shapes = [tuple(variable.shape) for variable in encoder.variables]
    if shapes != [tuple(weight.shape) for weight in self._saved.weights]:
      raise ModelError(
        f"{self.directory}: its weights do not fit the network of its configuration."
      )
    for variable, weight in zip(encoder.variables, self._saved.weights, strict=True):
      variable.assign(weight)

  def solver(
    self,
    num_lanes: int | None = None,
    memory_limit: int | None = None,
    jit_compile: bool | None = None,
    **settings: Any,
  ) -> search.Solver:
    """A solver with the recommended settings, except for those given.

    Args:
      num_lanes: problems to search at once; None for as many as keep the encoder busy.
      memory_limit: bytes for all of them; None for half of what is free.
      jit_compile: whether XLA compiles it; None for where that is faster.
      **settings: of `SolverSettings`.
    """
    if jit_compile is None:
      jit_compile = self.metadata.jit_on_cpu or bool(tf.config.list_physical_devices("GPU"))
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
  _check_signatures(metadata, saved, directory)
  return ExportedModel(directory, metadata, saved)


def _check_signatures(metadata: Metadata, saved: Any, directory: pathlib.Path) -> None:
  """Refuses a SavedModel that its metadata does not describe."""
  states = tf.TensorShape([None, metadata.puzzle["state_size"]])
  vectors = tf.TensorShape([None, metadata.representation_dim])
  wanted = {"distance": states, "solve": states}
  if metadata.representation_dim is not None:
    wanted |= {"embed": states, "embedding_distance": vectors}
  for name, shape in wanted.items():
    if name not in saved.signatures or not hasattr(saved, name):
      raise ModelError(f"{directory} lacks the signature {name}. Export the run again.")
    takes = saved.signatures[name].structured_input_signature[1]["states"].shape
    if takes.as_list() != shape.as_list():
      raise ModelError(
        f"{directory}: the signature {name} takes {takes.as_list()}, by {FILE} it would be "
        f"{shape.as_list()}: the two are of different models. Export the run again."
      )


def _check_fits(metadata: Metadata, puzzle: puzzles.Puzzle, directory: pathlib.Path) -> None:
  for key, wanted in puzzles.describe(puzzle).items():
    if metadata.puzzle[key] != wanted:
      raise ModelError(
        f"{directory} is for {metadata.puzzle['name']} with {key} {metadata.puzzle[key]}; "
        f"wanted is {puzzle.name} with {wanted}."
      )
