"""Configuration files are found by name from anywhere, and every one of them parses."""

import inspect
import pathlib
import subprocess
import sys

import gin
import pytest

from crtr_tf import configs, puzzles

PUZZLE_CONFIGS = configs.list_configs("puzzles/*.gin")
# Layers of training refer to macros that other layers and runs define; alone they are incomplete.
BELOW_TRAINING = ("gin/puzzles/n_puzzle.gin", "gin/models/dense_small.gin")
MACROS_OF_RUNS = ("DATASET = 'data/n_puzzle'", "RLDS = 'd4rl_adroit_pen/v0-expert'")


@pytest.fixture(autouse=True)
def _clean_gin():
  yield
  gin.clear_config()


@gin.configurable(module="test_configs")
def current_puzzle(puzzle=gin.REQUIRED):
  """Stands for the later layers, which take the puzzle as an argument."""
  return puzzle


@pytest.mark.parametrize("name", configs.list_configs())
def test_every_config_parses(name, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  if name.startswith("gin/training/"):
    configs.parse([*BELOW_TRAINING, name], MACROS_OF_RUNS)
  else:
    configs.parse([name])
  assert gin.config_is_locked()


@pytest.mark.parametrize("name", PUZZLE_CONFIGS)
def test_puzzle_config_describes_its_puzzle_in_full(name):
  configs.parse([name], ["current_puzzle.puzzle = %PUZZLE"])
  puzzle = current_puzzle()
  assert puzzle.name == pathlib.PurePath(name).stem
  # Spelling out every parameter keeps old results reproducible when a default changes.
  parameters = set(inspect.signature(type(puzzle)).parameters)
  assert set(gin.get_bindings(type(puzzle).__name__)) == parameters


def test_every_puzzle_has_a_config():
  assert [pathlib.PurePath(name).stem for name in PUZZLE_CONFIGS] == sorted(puzzles.PUZZLES)


def test_bindings_override_files():
  bindings = ["NPuzzle.size = 3", "current_puzzle.puzzle = %PUZZLE"]
  configs.parse(["gin/puzzles/n_puzzle.gin"], bindings)
  assert current_puzzle().size == 3


def test_parse_drops_what_was_parsed_before():
  configs.parse(["gin/puzzles/n_puzzle.gin"], ["NPuzzle.size = 3"])
  configs.parse(["gin/puzzles/n_puzzle.gin"])
  assert gin.query_parameter("NPuzzle.size") == 4


def test_include_works_from_any_folder(tmp_path, monkeypatch, caplog):
  monkeypatch.chdir(tmp_path)
  text = "include 'gin/puzzles/lights_out.gin'\nLightsOut.width = 5\n"
  pathlib.Path("mine.gin").write_text(text)
  configs.parse(["mine.gin"])
  assert gin.query_parameter("LightsOut.width") == 5
  assert gin.query_parameter("LightsOut.height") == 7
  assert not caplog.records  # Gin logs an error for each place where the include is not.


@pytest.mark.parametrize(
  ("binding", "message"),
  [
    ("NPuzzel.size = 3", "NPuzzel"),
    ("NPuzzle.sise = 3", "sise"),
    ("current_puzzle.puzzle = %PUZLE", "PUZLE"),
  ],
)
def test_unknown_names_are_errors(binding, message):
  with pytest.raises(ValueError, match=message):
    configs.parse(["gin/puzzles/n_puzzle.gin"], [binding])


def test_a_file_of_the_working_directory_comes_first(tmp_path, monkeypatch):
  name = "gin/puzzles/n_puzzle.gin"
  monkeypatch.chdir(tmp_path)
  assert configs.config_path(name) == configs.config_root() / name
  mine = tmp_path / name
  mine.parent.mkdir(parents=True)
  mine.touch()
  assert configs.config_path(name) == mine
  assert configs.config_path(mine) == mine


@pytest.mark.parametrize("name", ["gin/puzzles/rubik_cube.gin", "rubiks_cube", "rubiks_cube.gin"])
def test_a_missing_config_says_where_it_looked_and_what_is_close(name, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  with pytest.raises(FileNotFoundError) as raised:
    configs.config_path(name)
  message = str(raised.value)
  for part in (
    repr(name),
    str(tmp_path),
    str(configs.config_root()),
    "gin/puzzles/rubiks_cube.gin",
  ):
    assert part in message
  assert "\n" not in message


def test_a_missing_config_without_likeness_has_no_hint():
  with pytest.raises(FileNotFoundError) as raised:
    configs.config_path("zzz")
  assert "did you mean" not in str(raised.value)


def test_importing_has_no_side_effects():
  code = (
    "import sys, gin, crtr_tf.configs as configs\n"
    "before = list(gin.config._LOCATION_PREFIXES)\n"
    "assert before == [''], before\n"
    "assert configs.list_configs()\n"
    "assert 'tensorflow' not in sys.modules\n"
  )
  subprocess.run([sys.executable, "-c", code], check=True)


def test_the_config_folder_never_becomes_a_package():
  # As a package it would shadow the gin-config library for everyone who runs from the checkout.
  assert not list((configs.config_root() / configs.CONFIG_FOLDER).rglob("__init__.py"))
