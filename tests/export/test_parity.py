"""What is loaded equals what was saved, for every method, in every way that TensorFlow loads."""

import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export, models, search
from crtr_tf.export import solving
from tests.export import toy_models

SCRIPT = pathlib.Path(__file__).with_name("use_without_crtr.py")
WITH_XLA = "crtr"  # one is enough: compiling takes longer than everything else


class Case(NamedTuple):
  """A live model and the directory that it was saved in."""

  model: models.HeuristicModel
  directory: pathlib.Path
  metadata: export.Metadata


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
  cases = {}
  for name, method in toy_models.METHODS.items():
    model = toy_models.trained_model(name)
    directory = tmp_path_factory.mktemp("models") / "1"
    metadata = export.save(
      model,
      toy_models.PUZZLE,
      directory,
      export.Training(method.name, steps=4),
      toy_models.SETTINGS,
      jit_compile=name == WITH_XLA,
    )
    cases[name] = Case(model, directory, metadata)
  return cases


@pytest.fixture(scope="module")
def pairs() -> tuple[np.ndarray, np.ndarray]:
  states = toy_models.boards()
  return states, toy_models.PUZZLE.goal(tf.constant(states)).numpy()


@pytest.fixture(scope="module")
def served(
  cases: dict[str, Case],
  pairs: tuple[np.ndarray, np.ndarray],
  tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, np.ndarray]:
  """Outputs of all signatures in a process that knows nothing of this package."""
  folder = tmp_path_factory.mktemp("served")
  np.savez(folder / "in.npz", states=pairs[0], goals=pairs[1])
  named = [f"{name}={case.directory}" for name, case in cases.items()]
  # Elsewhere, so that not even the checkout is in reach.
  done = subprocess.run(
    [sys.executable, "-P", SCRIPT, folder / "in.npz", folder / "out.npz", *named],
    cwd=folder,
    env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr[-3000:]
  return dict(np.load(folder / "out.npz"))


@pytest.fixture(scope="module")
def live(
  cases: dict[str, Case], pairs: tuple[np.ndarray, np.ndarray]
) -> dict[str, search.SearchResult]:
  """What the solvers of the live models give."""
  results = {}
  for name, case in cases.items():
    solver = solving.make_solver(
      toy_models.PUZZLE, case.model, toy_models.SETTINGS, jit_compile=name == WITH_XLA
    )
    results[name] = solver.solve(pairs[0])
  return results


@pytest.mark.slow
@pytest.mark.parametrize("name", toy_models.METHODS)
def test_signatures_without_this_package_equal_the_live_model(
  name: str,
  cases: dict[str, Case],
  pairs: tuple[np.ndarray, np.ndarray],
  served: dict[str, np.ndarray],
  live: dict[str, search.SearchResult],
):
  case, result = cases[name], live[name]
  np.testing.assert_allclose(
    served[f"{name}/distance/distances"], case.model.distance(*pairs), rtol=1e-5, atol=1e-5
  )
  if isinstance(case.model, models.EmbeddingHeuristic):
    np.testing.assert_allclose(
      served[f"{name}/embed/embeddings"], case.model.embed(pairs[0]), rtol=1e-5, atol=1e-5
    )
  else:
    assert f"{name}/embed/embeddings" not in served
  assert result.solved[1] and result.lengths[1] == 0
  for output, expected in (
    ("solved", result.solved),
    ("plan", result.plans),
    ("length", result.lengths),
    ("nodes", result.nodes),
  ):
    np.testing.assert_array_equal(served[f"{name}/solve/{output}"], expected, err_msg=output)


@pytest.mark.slow
def test_some_boards_are_solved_and_some_are_not(served: dict[str, np.ndarray]):
  """Otherwise equal results would say little."""
  solved = np.stack([served[f"{name}/solve/solved"] for name in toy_models.METHODS])
  assert solved[:, 2:].any() and not solved.all()


@pytest.mark.parametrize("name", toy_models.METHODS)
def test_loaded_models_are_heuristics_as_live_ones_are(
  name: str, cases: dict[str, Case], pairs: tuple[np.ndarray, np.ndarray]
):
  model, directory, metadata = cases[name]
  loaded = export.load(directory, toy_models.PUZZLE)
  assert loaded.metadata == metadata and loaded.metadata.solver == toy_models.SETTINGS
  embeds = isinstance(model, models.EmbeddingHeuristic)
  assert isinstance(loaded, models.EmbeddingHeuristic) == search.has_embeddings(loaded) == embeds
  for count in (1, 7):
    states, goals = (tf.constant(part[:count]) for part in pairs)
    expected = model.distance(states, goals)
    np.testing.assert_allclose(loaded.distance(states, goals), expected, rtol=1e-5, atol=1e-5)
    if embeds:
      found = loaded.embedding_distance(loaded.embed(states), loaded.embed(goals))
      np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_moving_statistics_are_saved(cases: dict[str, Case], pairs: tuple[np.ndarray, np.ndarray]):
  """Of a model whose statistics are the initial ones, all else equal, distances are others."""
  trained, reset = cases["crtr conv"].model, toy_models.make_model("crtr conv")
  for kept, new in zip(reset.encoder.variables, trained.encoder.variables, strict=True):
    if "moving" not in kept.path:
      kept.assign(new)
  loaded = export.load(cases["crtr conv"].directory)
  assert np.abs(loaded.distance(*pairs) - reset.distance(*pairs)).max() > 1e-2


def test_a_loaded_solver_equals_the_live_one(
  cases: dict[str, Case],
  pairs: tuple[np.ndarray, np.ndarray],
  live: dict[str, search.SearchResult],
):
  loaded = export.load(cases["crtr conv"].directory)
  result = loaded.solver(jit_compile=False).solve(pairs[0])
  for part, expected in zip(result, live["crtr conv"], strict=True):
    np.testing.assert_array_equal(part, expected)


@pytest.mark.slow
def test_the_command_line_of_tensorflow_runs_it(
  cases: dict[str, Case],
  pairs: tuple[np.ndarray, np.ndarray],
  served: dict[str, np.ndarray],
  tmp_path: pathlib.Path,
):
  np.save(tmp_path / "states.npy", pairs[0])
  command = [sys.executable, "-m", "tensorflow.python.tools.saved_model_cli", "run"]
  command += [f"--dir={cases['crtr conv'].directory}", "--tag_set=serve"]
  command += ["--signature_def=solve", f"--outdir={tmp_path}"]
  command += [f"--inputs=states={tmp_path}/states.npy"]
  done = subprocess.run(command, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr[-3000:]
  for output in ("solved", "plan", "length", "nodes"):
    found = np.load(tmp_path / f"{output}.npy")
    np.testing.assert_array_equal(found, served[f"crtr conv/solve/{output}"], err_msg=output)
