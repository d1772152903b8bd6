"""What the tests of binaries share: a model, a file of instances, crtr-solve in this process."""

import io
import pathlib
import sys

import pytest

from crtr_tf import export
from crtr_tf.cli import solve
from tests.cli import commands


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  """An exported model for 3x3 Lights Out, which solves some boards and not all."""
  settings = export.SolverSettings(budget=400)
  return commands.save_model(commands.BOARDS, tmp_path_factory.mktemp("models") / "1", settings)


@pytest.fixture
def run_solve(
  model: pathlib.Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> commands.RunHere:
  """Runs the command in this process: (*flags, stdin="") -> Outcome."""

  def run(*flags: str, stdin: str = "") -> commands.Outcome:
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    return commands.run_here(solve.run, (f"--model={model}", *flags), capsys)

  return run


@pytest.fixture
def boards(tmp_path: pathlib.Path) -> pathlib.Path:
  """A file of 22 boards and a solved one."""
  path = tmp_path / "boards.txt"
  path.write_text("\n".join([*commands.board_texts(22), "000/000/000"]) + "\n")
  return path
