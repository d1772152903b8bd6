"""crtr-solve on many instances, and when it ends before its time."""

import json
import pathlib
import signal
import subprocess
import time
from collections.abc import Iterator

import numpy as np
import pytest

from crtr_tf.cli import json_lines, solve
from crtr_tf.evaluation import bulk
from tests.cli import commands

BAD = ("010/111", "012/111/000")


# Runs that end before their time.


def test_results_get_their_name_when_all_are_there(
  run_solve: commands.RunHere,
  boards: pathlib.Path,
  tmp_path: pathlib.Path,
  monkeypatch: pytest.MonkeyPatch,
):
  out, seen = tmp_path / "out.jsonl", []
  write = solve.Session.write

  def watch(session: solve.Session, piece: bulk.Piece) -> None:
    write(session, piece)
    assert not out.exists()
    seen.append(len(commands.read_records(tmp_path / "out.jsonl.partial")))

  monkeypatch.setattr(solve.Session, "write", watch)
  outcome = run_solve(f"--instances={boards}", f"--out={out}", "--num_lanes=2")
  assert outcome.code == 0 and outcome.out == ""
  assert seen == [8, 16, 23]
  assert len(commands.read_records(out)) == 23
  assert not (tmp_path / "out.jsonl.partial").exists()


@pytest.mark.slow
def test_a_killed_run_keeps_what_it_solved_and_goes_on(
  run_solve: commands.RunHere, model: pathlib.Path, boards: pathlib.Path, tmp_path: pathlib.Path
):
  """Killed while it waits for more input, behind its second piece of four instances."""
  out, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
  flags = (f"--out={out}", "--num_lanes=1")
  process = commands.start(
    "solve", f"--model={model}", "--instances=-", *flags, stdin=subprocess.PIPE
  )
  texts = boards.read_text().split()
  process.stdin.write("\n".join([BAD[0], *texts[:10]]) + "\n")
  process.stdin.flush()
  deadline = time.monotonic() + 120
  while not partial.exists() or len(partial.read_text().splitlines()) < 9:
    assert process.poll() is None, process.communicate()
    assert time.monotonic() < deadline, "no results appeared"
    time.sleep(0.05)
  process.kill()
  process.communicate()
  assert process.returncode == -signal.SIGKILL and not out.exists()

  whole = tmp_path / "whole.txt"
  whole.write_text("\n".join([BAD[0], *texts, BAD[1]]))
  with open(partial, "a") as file:
    file.write('{"number": 10, "inst')  # cut short by the end of the process
  kept = partial.read_text()
  message = run_solve(f"--instances={whole}", *flags).error
  assert "holds the results of an interrupted run; go on with --resume or remove it" in message
  message = run_solve(f"--instances={whole}", *flags, "--resume", "--budget=50").error
  assert "holds results of another model or other settings" in message
  message = run_solve(f"--instances={boards}", *flags, "--resume").error
  assert "has another instance 1 than the input" in message
  message = run_solve(
    "--instances=-", *flags, "--resume", stdin="\n".join([BAD[0], *texts[:3]])
  ).error
  assert "has 9 instances, the input only 4" in message
  assert json.loads(partial.read_text().splitlines()[8]) == json.loads(kept.splitlines()[8])

  outcome = run_solve(f"--instances={whole}", *flags, "--resume")
  assert outcome.code == 0 and not partial.exists()
  uninterrupted = run_solve(f"--instances={whole}").records
  assert commands.without_times(commands.read_records(out)) == commands.without_times(uninterrupted)
  assert "solved" in outcome.err and f"of {len(texts)} " in outcome.err
  # What was done was not done again.
  assert out.read_text().startswith(kept[: kept.rindex("\n") + 1])
  before = out.read_bytes()
  assert run_solve(f"--instances={whole}", *flags, "--resume").code == 0
  assert out.read_bytes() == before


def test_a_refused_resumption_leaves_finished_results_alone(
  run_solve: commands.RunHere, tmp_path: pathlib.Path
):
  out = tmp_path / "out.jsonl"
  assert run_solve("--instance=010/111/010", f"--out={out}").code == 0
  before = out.read_bytes()
  for flags in (("--instance=110/100/000",), ("--instance=010/111/010", "--budget=5")):
    assert "error:" in run_solve(*flags, f"--out={out}", "--resume").error
    assert out.read_bytes() == before and not (tmp_path / "out.jsonl.partial").exists()
  out.write_text("not ours\n")
  message = run_solve("--instance=010/111/010", f"--out={out}", "--resume").error
  assert "line 1: expected a JSON object" in message and out.read_text() == "not ours\n"


# Many of them.


@pytest.mark.slow
def test_several_processes_give_the_same_records(run_solve: commands.RunHere, boards: pathlib.Path):
  alone = run_solve(f"--instances={boards}").records
  shared = run_solve(f"--instances={boards}", "--num_processes=2").records
  assert commands.without_times(shared) == commands.without_times(alone)


def test_thousands_of_instances_are_read_as_they_are_needed(
  model: pathlib.Path, tmp_path: pathlib.Path
):
  count = 0

  def lines() -> Iterator[str]:
    nonlocal count
    for text in commands.board_texts(200) * 8:
      count += 2
      yield BAD[0]
      yield text

  job = bulk.Job(str(model), (("budget", 20),), num_lanes=16)
  with json_lines.JsonLines(str(tmp_path / "out"), False, "run") as out:
    session = solve.Session(commands.BOARDS, lines(), out)
    done = 0
    for piece in bulk.solve_pieces(job, session.states()):
      session.write(piece)
      done += 2 * len(piece.states)
      assert count - done <= 2 and len(piece.states) <= 64
      assert len(session._pending) <= 1
    session.finish()
  assert done == 3200
  assert len(commands.read_records(tmp_path / "out")) == 3200


@pytest.mark.parametrize(("count", "sizes"), [(3, [2, 1]), (9, [5, 4]), (25, [8, 8, 5, 4])])
def test_work_is_shared_evenly_and_not_read_ahead(count: int, sizes: list[int]):
  taken = []

  def problems() -> Iterator[np.ndarray]:
    for number in range(count):
      taken.append(number)
      yield np.full(3, number, np.uint8)

  found = []
  for piece in bulk._pieces(problems(), size=8, num_processes=2):
    found.append(len(piece))
    assert len(taken) - sum(found[:-1]) <= 16
  assert found == sizes
