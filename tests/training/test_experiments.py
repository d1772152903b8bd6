"""Every experiment file: it parses, its model can be built, and the CPU ones take steps."""

import copy
import pathlib
from typing import Any

import gin
import pytest
import tensorflow_datasets as tfds

import crtr_tf.datasets  # noqa: F401  (registers the datasets)
from crtr_tf import configs, puzzles, training
from crtr_tf.training import methods

METHODS = ("crtr", "crl", "supervised", "davi")
PAPER = configs.list_configs("paper/*.gin")
CPU = configs.list_configs("cpu/*.gin")
RELEASED = configs.list_configs("cpu/released/*_*.gin")


@pytest.fixture(autouse=True)
def _clean_gin():
  yield
  gin.clear_config()


@pytest.fixture(scope="module")
def sokoban_directory(tmp_path_factory: pytest.TempPathFactory) -> str:
  builder = tfds.builder("sokoban/tiny", data_dir=tmp_path_factory.mktemp("data"))
  builder.download_and_prepare()
  return str(builder.data_dir)


def bound(name: str) -> Any:
  """What a parameter of the configuration evaluates to."""
  return copy.deepcopy(gin.query_parameter(name))


@pytest.mark.parametrize("folder", ["paper", "cpu"])
def test_there_is_one_file_for_each_puzzle_and_method(folder: str):
  expected = {f"gin/{folder}/{name}_{method}.gin" for name in puzzles.PUZZLES for method in METHODS}
  assert set(configs.list_configs(f"{folder}/*.gin")) == expected


def test_released_models_have_a_twin_to_compare_with():
  expected = {f"gin/cpu/released/{name}_{m}.gin" for name in puzzles.PUZZLES for m in METHODS[:2]}
  assert set(RELEASED) == expected


@pytest.mark.parametrize("name", [*PAPER, *CPU, *RELEASED])
def test_every_experiment_names_its_method_and_builds_its_model(name: str):
  configs.parse([name])
  method, puzzle = bound("train.method"), bound("train.puzzle")
  assert pathlib.PurePath(name).stem == f"{puzzle.name}_{method.name}"
  model = method.make_model(methods.StateSpec.of(None, puzzle), puzzle)
  model.build((None, puzzle.state_size))
  assert model.count_params() > 10_000


def test_paper_experiments_have_the_paper_numbers():
  metrics = {
    "rubiks_cube": "dot",
    "n_puzzle": "dot",
    "digit_jumper": "dot",
    "lights_out": "l2",
    "sokoban": "l2_squared",
  }
  for name in PAPER:
    configs.parse([name])
    method, puzzle = bound("train.method"), bound("train.puzzle")
    assert gin.query_parameter("train.batch_size") == 512
    rate = 1e-4 if puzzle.name == "lights_out" else 3e-4
    assert gin.query_parameter("adam.learning_rate") == rate
    encoder = method.encoder(methods.StateSpec.of(None, puzzle))
    is_conv = puzzle.name in ("sokoban", "lights_out")
    assert encoder.width == (64 if is_conv else 512)
    assert (encoder.depth, encoder.representation_dim) == (8, 64)
    if method.name in ("crtr", "crl"):
      assert method.metric == metrics[puzzle.name]
      assert method.repetition_factor == {"crtr": 2, "crl": 1}[method.name]


@pytest.mark.parametrize("name", [*CPU, "gin/cpu/released/sokoban_crtr.gin"])
def test_every_cpu_experiment_takes_two_steps(
  name: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest
):
  bindings = [
    "train.num_steps = 2",
    "train.batch_size = 16",
    "train.held_out = None",
    "train.evaluators = ()",
    "train.jit_compile = False",
    "adam.warmup_steps = 0",
  ]
  if "sokoban" in name:
    bindings.append(f"DATASET = {request.getfixturevalue('sokoban_directory')!r}")
  configs.parse([name], bindings)
  result = gin.get_configurable(training.train)(tmp_path)
  assert result.finished and result.step == 2


def test_the_random_baseline_takes_the_place_of_another(tmp_path: pathlib.Path):
  configs.parse(["gin/cpu/lights_out_crtr.gin", "gin/training/random.gin"])
  assert bound("train.method").name == "random"


@pytest.mark.parametrize("wanted", ["augment = True", "detour_share = 0.5"])
def test_symmetries_and_moves_of_what_is_no_puzzle_are_refused(wanted: str, tmp_path: pathlib.Path):
  configs.parse(["gin/cpu/lights_out_crtr.gin"], ["train.puzzle = None", f"train.{wanted}"])
  with pytest.raises(ValueError, match=f"{wanted.split()[0]} needs a puzzle"):
    gin.get_configurable(training.train)(tmp_path)


def test_detours_of_a_method_without_negatives_are_refused(tmp_path: pathlib.Path):
  configs.parse(["gin/cpu/lights_out_supervised.gin"], ["train.detour_share = 0.5"])
  with pytest.raises(ValueError, match="detours are for contrastive batches"):
    gin.get_configurable(training.train)(tmp_path)
