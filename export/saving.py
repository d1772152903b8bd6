"""Writes a model as a SavedModel that needs nothing but TensorFlow to be used."""

import hashlib
import os
import pathlib
import platform
import shutil
from importlib import metadata as packages
from typing import Any

import keras
import tensorflow as tf

from crtr_tf import models, puzzles, search, version
from crtr_tf.export import solving
from crtr_tf.export.metadata import FILE, HISTORY, Metadata, SolverSettings, Training

_SERVED_LANES = 64  # problems that the `solve` signature searches at once


def save(
  model: models.HeuristicModel,
  puzzle: puzzles.Puzzle,
  directory: str | os.PathLike[str],
  training: Training,
  solver: SolverSettings | None = None,
  calibration: dict[str, list[float]] | None = None,
  jit_compile: bool | None = None,
  history: str | None = None,
) -> Metadata:
  """Writes a model with its signatures and metadata; never leaves half of it at its place.

  Signatures, all with a free batch dimension, for S cells and representations of size d:
    solve: `states` [B, S] uint8 -> `solved` [B] bool, `plan` [B, M] int32 (-1 behind the last
      action), `length` [B] int32, `nodes` [B] int32. The one that is served by default.
    distance: `states`, `goals` [B, S] uint8 -> `distances` [B] float32, lower is closer.
    embed: `states` [B, S] uint8 -> `embeddings` [B, d] float32; not for methods without.
    embedding_distance: `states`, `goals` [B, d] float32 -> `distances` [B] float32; likewise.

  Args:
    model: built; its weights are those that are saved.
    puzzle: that it is for.
    directory: where to; must not exist. TensorFlow Serving wants a number for its name.
    training: how the model came to be.
    solver: of the `solve` signature, and recommended to others.
    calibration: see `Metadata`.
    jit_compile: whether XLA compiles the `solve` signature; None for where it is faster. Without,
      the model runs in servers that were built without XLA.
    history: what was logged while training, as CSV; kept beside the metadata.
  """
  directory = pathlib.Path(directory)
  check_free(directory)
  solver = solver or SolverSettings()
  if jit_compile is None:
    jit_compile = model.encoder.jit_on_cpu
  embeds = isinstance(model, models.EmbeddingHeuristic)
  metadata = Metadata(
    puzzle={**puzzles.describe(puzzle), "parameters": puzzles.parameters(puzzle)},
    training=training,
    metric=getattr(model, "metric", None),
    representation_dim=model.encoder.representation_dim if embeds else None,
    solver=solver,
    calibration=calibration,
    jit_on_cpu=model.encoder.jit_on_cpu,
    weights=_fingerprint(model.encoder),
    versions=_versions(),
  )
  served = solving.make_solver(
    puzzle, model, solver, calibration, num_lanes=_SERVED_LANES, jit_compile=jit_compile
  )
  saved, signatures = _endpoints(model, served)
  partial = directory.with_name(f"{directory.name}.{os.getpid()}.partial")
  try:
    tf.saved_model.save(saved, str(partial), signatures)
    (partial / FILE).parent.mkdir(exist_ok=True)
    (partial / FILE).write_text(metadata.as_json())
    if history is not None:
      (partial / HISTORY).write_text(history)
    partial.rename(directory)
  finally:
    shutil.rmtree(partial, ignore_errors=True)
  return metadata


def _endpoints(
  model: models.HeuristicModel, solver: search.Solver
) -> tuple[tf.Module, dict[str, Any]]:
  """The functions that are saved: as attributes for those who load them, and as signatures."""
  cells = solver.puzzle.state_size
  states = tf.TensorSpec([None, cells], tf.uint8, name="states")
  goals = tf.TensorSpec([None, cells], tf.uint8, name="goals")
  functions = {
    "solve": (lambda states: _named(solver.solve_in_graph(states)), [states]),
    "distance": (
      lambda states, goals: {"distances": model.distance(states, goals)},
      [states, goals],
    ),
  }
  if isinstance(model, models.EmbeddingHeuristic):
    vectors = tf.TensorSpec([None, model.encoder.representation_dim], tf.float32)
    functions |= {
      "embed": (lambda states: {"embeddings": model.embed(states)}, [states]),
      "embedding_distance": (
        lambda states, goals: {"distances": model.embedding_distance(states, goals)},
        [vectors, vectors],
      ),
    }
  # Concrete functions in a plain module: anything else, Keras' ExportArchive included, traces every
  # function twice, and the search is large.
  traced = {
    name: tf.function(function, input_signature=specs).get_concrete_function()
    for name, (function, specs) in functions.items()
  }
  saved = tf.Module()
  saved.weights = [variable.value for variable in model.encoder.variables]
  for name, function in traced.items():
    setattr(saved, name, function)
  return saved, {"serving_default": traced["solve"], **traced}


def check_free(directory: pathlib.Path) -> None:
  """Raises FileExistsError if there is something at the place of a model to be written."""
  if directory.exists():
    raise FileExistsError(f"{directory} exists already; remove it or choose another export_dir.")


def _named(result: Any) -> dict[str, tf.Tensor]:
  """What the `solve` signature returns."""
  return {
    "solved": result.solved,
    "plan": result.plans,
    "length": result.lengths,
    "nodes": result.nodes,
  }


def _fingerprint(encoder: models.Encoder) -> str:
  """Equal for equal weights of equal networks."""
  digest = hashlib.sha256()
  for variable in encoder.variables:
    digest.update(f"{variable.path.split('/')[-1]} {tuple(variable.shape)}".encode())
    digest.update(keras.ops.convert_to_numpy(variable).tobytes())
  return digest.hexdigest()[:16]


def _versions() -> dict[str, str]:
  names = ("tensorflow", "keras", "numpy")
  return {
    "crtr_tf": version.__version__,
    "python": platform.python_version(),
    **{name: packages.version(name) for name in names},
  }
