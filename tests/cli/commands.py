"""Runs commands as users do, with a model to run them on; the tests of binaries share these."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import pytest
import tensorflow as tf
from absl.testing import flagsaver

from crtr_tf import data, export, models, puzzles, training
from crtr_tf.export import metadata as metadata_lib

BOARDS = puzzles.LightsOut(3, 3, trajectory_moves=6)  # 512 states, all of them solvable
ENVIRONMENT = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


class Outcome(NamedTuple):
  """What a command left behind."""

  code: int
  out: str
  err: str

  @property
  def records(self) -> list[dict[str, Any]]:
    return [json.loads(line) for line in self.out.splitlines()]

  @property
  def error(self) -> str:
    """The one line that says why nothing could be done."""
    assert self.code == 2 and "Traceback" not in self.err, self.err
    (line,) = [line for line in self.err.splitlines() if line.startswith("error: ")]
    return line


RunHere = Callable[..., Outcome]  # (*flags, stdin="") -> Outcome


def start(command: str, *arguments: str, **options: Any) -> subprocess.Popen:
  """Starts a command in a process of its own."""
  return subprocess.Popen(
    [sys.executable, "-m", f"crtr_tf.cli.{command}", *arguments],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env=ENVIRONMENT,
    **options,
  )


def run(command: str, *arguments: str, stdin: str = "") -> Outcome:
  """Runs a command to its end in a process of its own, which takes some seconds to start."""
  process = start(command, *arguments, stdin=subprocess.PIPE)
  out, err = process.communicate(stdin, timeout=300)
  return Outcome(process.returncode, out, err)


def run_here(entry: Any, arguments: tuple[str, ...], capsys: pytest.CaptureFixture) -> Outcome:
  """Runs a command's entry point to its end in this process; standard input is the caller's."""
  capsys.readouterr()
  with pytest.MonkeyPatch.context() as patch, flagsaver.flagsaver():
    patch.setattr(sys, "argv", ["command", *arguments])
    with pytest.raises(SystemExit) as ended:
      entry()
  return Outcome(ended.value.code or 0, *capsys.readouterr())


def save_model(
  puzzle: puzzles.Puzzle,
  directory: pathlib.Path,
  settings: export.SolverSettings,
  calibration: dict[str, list[float]] | None = None,
) -> pathlib.Path:
  """Exports a small encoder that learned nothing, with searches that start without XLA."""
  keras.utils.set_random_seed(0)
  spec = training.StateSpec.of(data.simulated_trajectories(puzzle), puzzle)
  model = models.ContrastiveModel(training.dense_encoder(spec, 16, 2, 8), metric="l2")
  model.build((None, puzzle.state_size))
  training_info = export.Training("random")
  export.save(model, puzzle, directory, training_info, settings, calibration, jit_compile=False)
  path = directory / metadata_lib.FILE
  path.write_text(json.dumps({**json.loads(path.read_text()), "jit_on_cpu": False}))
  return directory


def board_texts(count: int, seed: int = 0) -> list[str]:
  states = BOARDS.instances(seed, tf.range(count, dtype=tf.int64)).numpy()
  return [BOARDS.format_instance(state) for state in states]


def without_times(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
  return [{key: value for key, value in one.items() if key != "seconds"} for one in records]


def read_records(path: pathlib.Path) -> list[dict[str, Any]]:
  return [json.loads(line) for line in path.read_text().splitlines()]
