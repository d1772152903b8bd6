"""Where models are found, what they say about themselves, and which are refused in what words."""

import json
import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from crtr_tf import export, puzzles
from crtr_tf.export import metadata as metadata_lib
from crtr_tf.export import names, saving
from tests.export import toy_models

TRAINING = export.Training("crtr", steps=5, seconds=1.5, config="train.num_steps = 5\n")
CALIBRATION = {"distances": [-1.0, 2.5], "steps": [0.0, 6.0]}


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  directory = tmp_path_factory.mktemp("models") / "model"
  settings = export.SolverSettings("astar", budget=50, alpha="auto", weight=2.0, top_k=3)
  export.save(
    toy_models.make_model("crtr"),
    toy_models.PUZZLE,
    directory,
    TRAINING,
    settings,
    CALIBRATION,
    jit_compile=False,
  )
  return directory


@pytest.fixture
def copy(model_dir: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
  return pathlib.Path(shutil.copytree(model_dir, tmp_path / "copy"))


def change(directory: pathlib.Path, edit: Callable[[dict[str, Any]], object]) -> None:
  """Edits the metadata of a model."""
  path = directory / metadata_lib.FILE
  values = json.loads(path.read_text())
  edit(values)
  path.write_text(json.dumps(values))


def refusal(name: Any, puzzle: puzzles.Puzzle | None = None) -> str:
  with pytest.raises(export.ModelError) as raised:
    export.load(name, puzzle)
  message = str(raised.value)
  assert len(message.splitlines()) == 1
  return message


def test_metadata_survive_the_round_trip(model_dir: pathlib.Path):
  found = export.load(model_dir).metadata
  assert found.training == TRAINING
  assert found.solver == export.SolverSettings("astar", 50, "auto", 2.0, 3)
  assert found.calibration == CALIBRATION
  assert (found.metric, found.representation_dim) == ("l2", 8)
  assert found.versions["tensorflow"] == tf.__version__
  assert puzzles.parameters(found.make_puzzle()) == puzzles.parameters(toy_models.PUZZLE)
  values = json.loads((model_dir / metadata_lib.FILE).read_text())
  assert values.pop("format") == metadata_lib.FORMAT
  assert set(values) == set(found.__dataclass_fields__)


def test_weights_tell_models_apart(model_dir: pathlib.Path):
  again = toy_models.make_model("crtr")
  saved = export.Metadata.read(model_dir).weights
  assert saving._fingerprint(again.encoder) == saved
  kernel = again.encoder.trainable_variables[-1]
  kernel.assign(kernel + 1e-6)
  assert saving._fingerprint(again.encoder) != saved


def test_the_highest_version_is_taken(model_dir: pathlib.Path, tmp_path: pathlib.Path):
  for version in ("2", "10"):
    shutil.copytree(model_dir, tmp_path / version)
  (tmp_path / "11.1234.partial").mkdir()  # an export that goes on at this moment
  (tmp_path / "12").write_text("not a folder")
  assert names.find(tmp_path) == tmp_path / "10"
  assert export.load(tmp_path).directory == tmp_path / "10"
  assert names.find(tmp_path / "2") == tmp_path / "2"


def test_released_models_are_found_by_name(
  model_dir: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
  monkeypatch.setattr(names, "_RELEASED", tmp_path / "released")
  assert export.released_models() == []
  assert "released models are: none" in refusal("lights_out")
  for name in ("lights_out", "a_cube"):
    shutil.copytree(model_dir, tmp_path / "released" / name)
  assert export.released_models() == ["a_cube", "lights_out"]
  assert export.load("lights_out").directory == tmp_path / "released" / "lights_out"
  message = refusal("rubiks_cub")
  assert message == (
    "there is no model 'rubiks_cub': no such directory, and released models are: "
    "a_cube, lights_out."
  )
  # A directory of the same name is not out of reach.
  monkeypatch.chdir(tmp_path)
  shutil.copytree(model_dir, tmp_path / "lights_out")
  assert export.find("./lights_out") == pathlib.Path("lights_out")


def test_directories_without_a_saved_model_are_refused(copy: pathlib.Path, tmp_path: pathlib.Path):
  assert "there is no model" in refusal(tmp_path / "nowhere")
  (tmp_path / "empty").mkdir()
  assert "is no SavedModel: it has no saved_model.pb" in refusal(tmp_path / "empty")
  (copy / "saved_model.pb").write_bytes(b"broken")
  assert "cannot be read as a SavedModel" in refusal(copy)


def test_a_saved_model_without_variables_is_refused(copy: pathlib.Path):
  shutil.rmtree(copy / "variables")
  assert "cannot be read as a SavedModel" in refusal(copy)


def test_a_saved_model_of_others_is_refused(tmp_path: pathlib.Path):
  module = tf.Module()
  module.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None, 9])])
  tf.saved_model.save(module, str(tmp_path))
  message = refusal(tmp_path)
  assert f"has no {metadata_lib.FILE}" in message and "crtr-export" in message


@pytest.mark.parametrize("text", ["{", "", "\x80"])
def test_broken_metadata_are_refused(text: str, copy: pathlib.Path):
  (copy / metadata_lib.FILE).write_bytes(text.encode("latin-1"))
  assert "is no JSON" in refusal(copy)


REFUSED = {
  "other format": (lambda v: v.update(format=99), "has another format than 1"),
  "no format": (lambda v: v.pop("format"), "has another format than 1"),
  "missing key": (lambda v: v.pop("weights"), "is not complete (.*weights"),
  "missing part": (lambda v: v.pop("training"), "is not complete (.*training"),
  "unknown setting": (lambda v: v["solver"].update(speed=3), "is not complete (.*speed"),
  "no puzzle": (lambda v: v.update(puzzle=None), "is not complete"),
  "no parameters": (lambda v: v["puzzle"].pop("parameters"), "is not complete (.*parameters"),
  "unknown puzzle": (
    lambda v: v["puzzle"].update(name="chess"),
    "is for the puzzle 'chess'; known are rubiks_cube, sokoban",
  ),
  "impossible parameters": (
    lambda v: v["puzzle"]["parameters"].update(width=0),
    "has parameters that lights_out refuses: width must be at least 1; got 0",
  ),
  "parameters of another size": (
    lambda v: v["puzzle"]["parameters"].update(width=4),
    "is for lights_out with state_size 9; this version of crtr_tf has 12",
  ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_metadata_that_do_not_fit_are_refused(name: str, copy: pathlib.Path):
  edit, words = REFUSED[name]
  change(copy, edit)
  message = refusal(copy)
  position = 0
  for part in words.split(".*"):
    assert part in message[position:], message
    position = message.index(part, position)


def test_metadata_of_another_model_are_refused(copy: pathlib.Path):
  other = puzzles.LightsOut(4, 4)
  described = {**puzzles.describe(other), "parameters": puzzles.parameters(other)}
  change(copy, lambda values: values.update(puzzle=described))
  message = refusal(copy)
  assert "takes [None, 9]" in message and "it would be [None, 16]" in message
  assert "different models" in message


def test_a_missing_signature_is_noticed(copy: pathlib.Path, model_dir: pathlib.Path):
  module = tf.Module()
  module.distance = tf.function(
    lambda states, goals: {"distances": tf.zeros(tf.shape(states)[:1])},
    input_signature=[tf.TensorSpec([None, 9], tf.uint8, name) for name in ("states", "goals")],
  )
  shutil.rmtree(copy)
  tf.saved_model.save(module, str(copy), signatures={"distance": module.distance})
  shutil.copytree(model_dir / "assets.extra", copy / "assets.extra")
  assert "lacks the signature solve" in refusal(copy)


def test_a_model_for_another_puzzle_or_size_is_refused(model_dir: pathlib.Path):
  assert export.load(model_dir, puzzles.LightsOut(3, 3, trajectory_moves=2)) is not None
  message = refusal(model_dir, puzzles.RubiksCube())
  assert "is for lights_out with name lights_out; wanted is rubiks_cube" in message
  message = refusal(model_dir, puzzles.LightsOut(5, 5))
  assert "is for lights_out with state_size 9; wanted is lights_out with 25." in message


def test_an_existing_directory_is_left_alone(model_dir: pathlib.Path):
  before = (model_dir / metadata_lib.FILE).read_bytes()
  with pytest.raises(FileExistsError, match=r"exists already; remove it or choose another"):
    export.save(toy_models.make_model("crtr"), toy_models.PUZZLE, model_dir, TRAINING)
  assert (model_dir / metadata_lib.FILE).read_bytes() == before


def test_nothing_is_left_behind_when_saving_fails(
  tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
  def fail(_: export.Metadata) -> str:
    assert list(tmp_path.iterdir())  # It is half written at this moment ...
    assert not (tmp_path / "model").exists()  # ... and not at its place.
    raise OSError("no space left on device")

  monkeypatch.setattr(export.Metadata, "as_json", fail)
  with pytest.raises(OSError, match="no space left"):
    export.save(
      toy_models.make_model("crtr"),
      toy_models.PUZZLE,
      tmp_path / "model",
      TRAINING,
      jit_compile=False,
    )
  assert not list(tmp_path.iterdir())


def test_settings_that_cannot_work_are_refused(model_dir: pathlib.Path):
  loaded = export.load(model_dir)
  with pytest.raises(ValueError, match="budget must be an integer of at least 1; got 0"):
    loaded.solver(budget=0)
  with pytest.raises(ValueError, match=r"solver must be one of bestfs, .*; got 'dfs'"):
    loaded.solver(solver="dfs")
  with pytest.raises(ValueError, match="weight must be a number of at least 0; got nan"):
    loaded.solver(weight=float("nan"))
  with pytest.raises(ValueError, match=r"for a single problem; the memory limit is 10.0 B"):
    loaded.solver(memory_limit=10)
  assert loaded.solver(num_lanes=3).num_lanes == 3
