"""crtr-export: from the directory of a run to a model that solves."""

import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export
from tests.cli import commands

SMALL = (
  "LightsOut.height = 3",
  "LightsOut.width = 3",
  "LightsOut.trajectory_moves = 6",
  "dense_encoder.width = 32",
  "train.num_steps = 6",
  "train.batch_size = 64",
  "train.num_held_out = 10",
  "train.evaluators = ()",
  "adam.warmup_steps = 2",
)


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  folder = tmp_path_factory.mktemp("runs") / "lights_out"
  bindings = [f"--gin_bindings={binding}" for binding in SMALL]
  outcome = commands.run(
    "train", "--gin_file=gin/cpu/lights_out_crtr.gin", f"--run_dir={folder}", *bindings
  )
  assert outcome.code == 0, outcome.err
  return folder


@pytest.mark.slow
def test_a_run_becomes_a_model(run_dir: pathlib.Path, tmp_path: pathlib.Path):
  target = tmp_path / "models" / "3"
  outcome = commands.run(
    "export", f"--run_dir={run_dir}", f"--export_dir={target}", "--alpha=auto", "--budget=512",
    "--nojit",
  )  # fmt: skip
  assert outcome.code == 0, outcome.err
  assert [path.name for path in target.parent.iterdir()] == ["3"]
  loaded = export.load(target.parent)
  assert loaded.metadata.weights in outcome.out and str(target) in outcome.out
  training = loaded.metadata.training
  assert (training.method, training.steps) == ("crtr", 6) and training.seconds > 0
  assert "train.batch_size = 64" in training.config
  solver = loaded.metadata.solver
  assert (solver.solver, solver.alpha, solver.budget) == ("astar", "auto", 512)
  # What the trajectories of this board can mean: from nothing to six presses.
  steps = loaded.metadata.calibration["steps"]
  assert 0 <= steps[0] < steps[-1] <= 6
  boards = commands.BOARDS.instances(0, tf.range(5, dtype=tf.int64))
  solved = tf.saved_model.load(str(target)).signatures["solve"](states=boards)["solved"]
  assert np.all(solved)  # the budget is all there is
  # The weights are those of the checkpoint and not new ones.
  reader = tf.train.load_checkpoint(str(run_dir / "checkpoints"))
  saved = [
    reader.get_tensor(name)
    for name in reader.get_variable_to_shape_map()
    if re.match(r"weights/\d+/", name)
  ]
  for variable in loaded._saved.weights:
    assert any(np.array_equal(variable, one) for one in saved), variable.name


@pytest.mark.slow
def test_a_model_is_written_again_with_another_search(tmp_path: pathlib.Path):
  outcome = commands.run(
    "export", "--model=digit_jumper", f"--export_dir={tmp_path}/again", "--solver=greedy",
    "--symmetries=2", "--nojit",
  )  # fmt: skip
  assert outcome.code == 0, outcome.err
  first, again = export.load("digit_jumper"), export.load(tmp_path / "again")
  assert (again.metadata.solver.solver, again.metadata.solver.symmetries) == ("greedy", 2)
  # All but the search is as before.
  for name in ("weights", "training", "calibration", "puzzle", "metric"):
    assert getattr(again.metadata, name) == getattr(first.metadata, name)
  history = [(model.directory / export.HISTORY).read_text() for model in (first, again)]
  assert history[0] == history[1]
  boards = first.puzzle.instances(0, tf.range(5, dtype=tf.int64))
  goals = first.puzzle.goal(boards)
  np.testing.assert_array_equal(again.distance(boards, goals), first.distance(boards, goals))


@pytest.mark.slow
def test_what_cannot_be_exported_is_refused_in_one_line(
  run_dir: pathlib.Path, tmp_path: pathlib.Path
):
  (tmp_path / "taken").mkdir()
  arguments = {
    "exists already": (f"--run_dir={run_dir}", f"--export_dir={tmp_path}/taken"),
    "is no run directory": (f"--run_dir={tmp_path}", f"--export_dir={tmp_path}/new"),
    "give either --run_dir": (f"--export_dir={tmp_path}/new",),
  }
  processes = {words: commands.start("export", *flags) for words, flags in arguments.items()}
  for words, process in processes.items():
    out, err = process.communicate(timeout=300)
    assert words in commands.Outcome(process.returncode, out, err).error
  assert [path.name for path in tmp_path.iterdir()] == ["taken"]
