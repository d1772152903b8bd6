"""crtr-solve as users meet it: instances in, checked plans out, whatever happens in between."""

import io
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export, puzzles
from crtr_tf.cli import json_lines, solve
from crtr_tf.evaluation import bulk
from crtr_tf.export import names
from tests.cli import commands

BAD = ("010/111", "012/111/000", "hello")
Solve = Callable[..., commands.Outcome]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  settings = export.SolverSettings(budget=400)
  return commands.save_model(commands.BOARDS, tmp_path_factory.mktemp("models") / "1", settings)


@pytest.fixture
def run(
  model: pathlib.Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Solve:
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


# Instances in, plans out.


def test_every_plan_solves_its_instance(run: Solve, boards: pathlib.Path):
  outcome = run(f"--instances={boards}")
  assert outcome.code == 0
  assert [one["number"] for one in outcome.records] == list(range(1, 24))
  assert [one["instance"] for one in outcome.records] == boards.read_text().split()
  for one in outcome.records:
    assert list(one) == [
      "number", "instance", "solved", "plan", "length", "nodes", "expanded", "seconds", "run"
    ]  # fmt: skip
    if one["solved"]:
      plan = commands.BOARDS.parse_plan(one["plan"])
      states = puzzles.replay(
        commands.BOARDS, commands.BOARDS.parse_instance(one["instance"]), plan
      )
      assert commands.BOARDS.is_solved(states)[-1] and len(plan) == one["length"]
      assert one["nodes"] <= 400
    else:
      assert one["plan"] is None and one["length"] is None and one["nodes"] == 400
  solved = sum(one["solved"] for one in outcome.records)
  assert 3 < solved < 23
  assert outcome.records[-1]["plan"] == "" and outcome.records[-1]["nodes"] == 1
  lengths = [one["length"] for one in outcome.records if one["solved"]]
  summary = outcome.err.splitlines()[-1]
  assert f"solved {solved} of 23" in summary and "nodes/s" in summary
  assert f"length mean {np.mean(lengths):.1f}, median {np.median(lengths):g}" in summary


def test_file_standard_input_and_command_line_agree(run: Solve, boards: pathlib.Path):
  from_file = commands.without_times(run(f"--instances={boards}").records)
  from_input = run("--instances=-", stdin=boards.read_text())
  assert commands.without_times(from_input.records) == from_file
  for number in (1, 7):
    alone = run(f"--instance={from_file[number]['instance']}")
    (record,) = commands.without_times(alone.records)
    assert record == {**from_file[number], "number": 1}


SOLVERS = {
  "astar": ("--alpha=0.5",),
  "greedy": ("--solver=greedy", "--max_steps=20"),
  "beam": ("--solver=beam", "--beam_width=32", "--max_steps=9"),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_other_searches(name: str, run: Solve, boards: pathlib.Path):
  records = run(f"--instances={boards}", *SOLVERS[name]).records
  bestfs = run(f"--instances={boards}").records
  assert records[-1]["plan"] == ""  # the solved board
  assert [one["nodes"] for one in records] != [one["nodes"] for one in bestfs]
  assert {one["run"] for one in records}.isdisjoint({one["run"] for one in bestfs})


def test_sokoban_levels_on_standard_input(
  tmp_path: pathlib.Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
):
  puzzle = puzzles.Sokoban(height=6, width=6, num_boxes=1)
  model = commands.save_model(puzzle, tmp_path / "1", export.SolverSettings(budget=300))
  levels = "; 1\n######\n#@$ .#\n######\n\n\n; no box\n####\n#@.#\n####\n; 3\n#####\n#.$@#\n#####\n"
  monkeypatch.setattr(sys, "stdin", io.StringIO(levels))
  outcome = commands.run_here(solve.run, (f"--model={model}", "--instances=-"), capsys)
  right, bad, left = outcome.records
  assert right["instance"] == "######\n#@$ .#\n######"
  assert (right["plan"], right["length"]) == ("RR", 2)  # capitals are pushes
  assert (left["plan"], left["length"]) == ("L", 1)
  assert bad["error"] == "the level has no boxes." and "plan" not in bad
  assert "instance 2: the level has no boxes." in outcome.err
  for one in (right, left):
    start = puzzle.parse_instance(one["instance"])
    states = puzzles.replay(puzzle, start, puzzle.parse_plan(one["plan"]))
    assert puzzle.is_solved(states)[-1]


def test_pictures_of_the_solutions(run: Solve, tmp_path: pathlib.Path):
  texts = [*commands.board_texts(3), BAD[0], "010/111/010"]
  outcome = run("--instances=-", f"--draw={tmp_path / 'pictures'}", stdin="\n".join(texts))
  solved = [one["number"] for one in outcome.records if one.get("solved")]
  assert 5 in solved
  found = sorted((tmp_path / "pictures").iterdir())
  assert [path.name for path in found] == [f"{number:04d}.png" for number in solved]
  picture = tf.io.decode_png(found[-1].read_bytes())  # start and end, side by side
  assert picture.shape[1] > 1.5 * picture.shape[0] > 200


# Bad input.


def test_bad_lines_do_not_hide_good_ones(run: Solve, boards: pathlib.Path):
  good = boards.read_text().split()[:5]
  mixed = [BAD[0], good[0], good[1], BAD[1], BAD[2], *good[2:], BAD[0]]
  outcome = run("--instances=-", stdin="\n\n".join(mixed))
  assert outcome.code == 0
  assert [one["instance"] for one in outcome.records] == mixed
  assert [one["number"] for one in outcome.records] == list(range(1, 10))
  assert ["error" in one for one in outcome.records] == [one in BAD for one in mixed]
  assert outcome.records[3]["error"] == "unknown symbol '2' in row 1; expected 0 or 1."
  assert "instance 4: unknown symbol '2' in row 1; expected 0 or 1." in outcome.err
  assert outcome.err.splitlines()[-1].endswith("4 instances could not be read.")
  alone = run("--instances=-", stdin="\n".join(good)).records
  kept = [one for one in outcome.records if "error" not in one]
  assert [one["plan"] for one in kept] == [one["plan"] for one in alone]


def test_nothing_but_bad_lines(run: Solve, tmp_path: pathlib.Path):
  out = tmp_path / "out.jsonl"
  outcome = run("--instances=-", f"--out={out}", stdin="\n".join(BAD))
  assert "not one of 3 instances can be read" in outcome.error
  assert [one["instance"] for one in commands.read_records(out)] == list(BAD)
  # A corrected file can be given at once.
  assert run("--instance=010/111/010", f"--out={out}").code == 0
  assert [one["solved"] for one in commands.read_records(out)] == [True]


REFUSALS = {
  "no instance": ((), "give either --instance or --instances"),
  "two sources": (("--instance=x", "--instances=y"), "give either --instance or --instances"),
  "empty input": (("--instances=-",), "no lights_out instance found: the input is empty"),
  "empty instance": (("--instance=",), "no lights_out instance found: the input is empty"),
  "bad instance": (("--instance=12",), "not one of 1 instances can be read"),
  "no such file": (("--instances=/no/where",), "/no/where cannot be read: No such file"),
  "no text": ((f"--instances={sys.executable}",), "is no text"),
  "budget": (("--instance=x", "--budget=0"), "budget must be an integer of at least 1; got 0"),
  "beam": (
    ("--instance=x", "--solver=beam", "--beam_width=0"),
    "width must be an integer of at least 1; got 0",
  ),
  "alpha": (("--instance=x", "--alpha=high"), "--alpha must be a number or 'auto'; got 'high'"),
  "negative alpha": (("--instance=x", "--alpha=-1"), "alpha must be a finite number of at least 0"),
  "no calibration": (("--instance=x", "--alpha=auto"), "this one has no calibration"),
  "useless setting": (
    ("--instance=x", "--beam_width=64"),
    "--beam_width is for beam; the search is bestfs",
  ),
  "useless alpha": (
    ("--instance=x", "--alpha=1", "--solver=greedy"),
    "--alpha is for astar; the search is greedy",
  ),
  "memory": (
    ("--instance=x", "--memory_gb=0.00001"),
    "BestFirstSolver for lights_out needs",
  ),
  "processes": (("--instance=x", "--num_processes=0"), "num_processes must be at least 1; got 0"),
  "resume": (("--instance=x", "--resume"), "--resume needs --out"),
  "argument": (("--instance=x", "level.txt"), "unexpected argument 'level.txt'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_work_is_refused_in_one_line(name: str, run: Solve, tmp_path: pathlib.Path):
  flags, message = REFUSALS[name]
  out = () if name == "resume" else (f"--out={tmp_path}/new/out.jsonl",)
  assert message in run(*flags, *out).error
  left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
  assert left == (["out.jsonl"] if name == "bad instance" else [])


def test_models_that_cannot_be_used_are_refused(
  model: pathlib.Path, run: Solve, tmp_path: pathlib.Path
):
  assert (
    "there is no model 'rubiks': no such directory" in run("--model=rubiks", "--instance=x").error
  )
  assert "is no SavedModel" in run(f"--model={tmp_path}", "--instance=x").error
  copy = shutil.copytree(model, tmp_path / "copy")
  shutil.rmtree(copy / "assets.extra")
  assert "was not written by crtr-export" in run(f"--model={copy}", "--instance=x").error


def test_places_that_cannot_be_written_are_refused_at_once(run: Solve, tmp_path: pathlib.Path):
  assert "is a folder" in run("--instance=010/111/010", f"--out={tmp_path}").error
  (tmp_path / "file").write_text("")
  assert "cannot be written" in run("--instance=010/111/010", f"--out={tmp_path}/file/x").error


def test_released_models_are_listed(
  run: Solve, model: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
  monkeypatch.setattr(names, "_RELEASED", tmp_path)
  assert run("--list_models").out.startswith("this version comes without models")
  shutil.copytree(model, tmp_path / "small_lights")
  (line,) = run("--list_models").out.splitlines()
  words = " ".join(line.split())
  assert words == "small_lights lights_out 3x3: random, 0 steps; searches with bestfs"
  assert "released models are: small_lights" in run("--model=large", "--instance=x").error
  assert run("--model=small_lights", "--instance=010/111/010").records[0]["solved"]


# Runs that end before their time.


def test_results_get_their_name_when_all_are_there(
  run: Solve, boards: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
  out, seen = tmp_path / "out.jsonl", []
  write = solve.Session.write

  def watch(session: solve.Session, piece: bulk.Piece) -> None:
    write(session, piece)
    assert not out.exists()
    seen.append(len(commands.read_records(tmp_path / "out.jsonl.partial")))

  monkeypatch.setattr(solve.Session, "write", watch)
  outcome = run(f"--instances={boards}", f"--out={out}", "--num_lanes=2")
  assert outcome.code == 0 and outcome.out == ""
  assert seen == [8, 16, 23]
  assert len(commands.read_records(out)) == 23
  assert not (tmp_path / "out.jsonl.partial").exists()


@pytest.mark.slow
def test_a_killed_run_keeps_what_it_solved_and_goes_on(
  run: Solve, model: pathlib.Path, boards: pathlib.Path, tmp_path: pathlib.Path
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
  message = run(f"--instances={whole}", *flags).error
  assert "holds the results of an interrupted run; go on with --resume or remove it" in message
  message = run(f"--instances={whole}", *flags, "--resume", "--budget=50").error
  assert "holds results of another model or other settings" in message
  message = run(f"--instances={boards}", *flags, "--resume").error
  assert "has another instance 1 than the input" in message
  message = run("--instances=-", *flags, "--resume", stdin="\n".join([BAD[0], *texts[:3]])).error
  assert "has 9 instances, the input only 4" in message
  assert json.loads(partial.read_text().splitlines()[8]) == json.loads(kept.splitlines()[8])

  outcome = run(f"--instances={whole}", *flags, "--resume")
  assert outcome.code == 0 and not partial.exists()
  uninterrupted = run(f"--instances={whole}").records
  assert commands.without_times(commands.read_records(out)) == commands.without_times(uninterrupted)
  assert "solved" in outcome.err and f"of {len(texts)} " in outcome.err
  # What was done was not done again.
  assert out.read_text().startswith(kept[: kept.rindex("\n") + 1])
  before = out.read_bytes()
  assert run(f"--instances={whole}", *flags, "--resume").code == 0
  assert out.read_bytes() == before


def test_a_refused_resumption_leaves_finished_results_alone(run: Solve, tmp_path: pathlib.Path):
  out = tmp_path / "out.jsonl"
  assert run("--instance=010/111/010", f"--out={out}").code == 0
  before = out.read_bytes()
  for flags in (("--instance=110/100/000",), ("--instance=010/111/010", "--budget=5")):
    assert "error:" in run(*flags, f"--out={out}", "--resume").error
    assert out.read_bytes() == before and not (tmp_path / "out.jsonl.partial").exists()
  out.write_text("not ours\n")
  message = run("--instance=010/111/010", f"--out={out}", "--resume").error
  assert "line 1: expected a JSON object" in message and out.read_text() == "not ours\n"


# Many of them.


@pytest.mark.slow
def test_several_processes_give_the_same_records(run: Solve, boards: pathlib.Path):
  alone = run(f"--instances={boards}").records
  shared = run(f"--instances={boards}", "--num_processes=2").records
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
