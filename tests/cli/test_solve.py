"""crtr-solve as users meet it: instances in, checked plans out, whatever happens in between."""

import io
import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export, puzzles
from crtr_tf.cli import solve
from crtr_tf.export import names
from tests.cli import commands

BAD = ("010/111", "012/111/000", "hello")


# Instances in, plans out.


def test_every_plan_solves_its_instance(run_solve: commands.RunHere, boards: pathlib.Path):
  outcome = run_solve(f"--instances={boards}")
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


def test_file_standard_input_and_command_line_agree(
  run_solve: commands.RunHere, boards: pathlib.Path
):
  from_file = commands.without_times(run_solve(f"--instances={boards}").records)
  from_input = run_solve("--instances=-", stdin=boards.read_text())
  assert commands.without_times(from_input.records) == from_file
  for number in (1, 7):
    alone = run_solve(f"--instance={from_file[number]['instance']}")
    (record,) = commands.without_times(alone.records)
    assert record == {**from_file[number], "number": 1}


SOLVERS = {
  "astar": ("--alpha=0.5",),
  "greedy": ("--solver=greedy", "--max_steps=20"),
  "beam": ("--solver=beam", "--beam_width=32", "--max_steps=9"),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_other_searches(name: str, run_solve: commands.RunHere, boards: pathlib.Path):
  records = run_solve(f"--instances={boards}", *SOLVERS[name]).records
  bestfs = run_solve(f"--instances={boards}").records
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


def test_pictures_of_the_solutions(run_solve: commands.RunHere, tmp_path: pathlib.Path):
  texts = [*commands.board_texts(3), BAD[0], "010/111/010"]
  outcome = run_solve("--instances=-", f"--draw={tmp_path / 'pictures'}", stdin="\n".join(texts))
  solved = [one["number"] for one in outcome.records if one.get("solved")]
  assert 5 in solved
  found = sorted((tmp_path / "pictures").iterdir())
  assert [path.name for path in found] == [f"{number:04d}.png" for number in solved]
  picture = tf.io.decode_png(found[-1].read_bytes())  # start and end, side by side
  assert picture.shape[1] > 1.5 * picture.shape[0] > 200


# Bad input.


def test_bad_lines_do_not_hide_good_ones(run_solve: commands.RunHere, boards: pathlib.Path):
  good = boards.read_text().split()[:5]
  mixed = [BAD[0], good[0], good[1], BAD[1], BAD[2], *good[2:], BAD[0]]
  outcome = run_solve("--instances=-", stdin="\n\n".join(mixed))
  assert outcome.code == 0
  assert [one["instance"] for one in outcome.records] == mixed
  assert [one["number"] for one in outcome.records] == list(range(1, 10))
  assert ["error" in one for one in outcome.records] == [one in BAD for one in mixed]
  assert outcome.records[3]["error"] == "unknown symbol '2' in row 1; expected 0 or 1."
  assert "instance 4: unknown symbol '2' in row 1; expected 0 or 1." in outcome.err
  assert outcome.err.splitlines()[-1].endswith("4 instances could not be read.")
  alone = run_solve("--instances=-", stdin="\n".join(good)).records
  kept = [one for one in outcome.records if "error" not in one]
  assert [one["plan"] for one in kept] == [one["plan"] for one in alone]


def test_nothing_but_bad_lines(run_solve: commands.RunHere, tmp_path: pathlib.Path):
  out = tmp_path / "out.jsonl"
  outcome = run_solve("--instances=-", f"--out={out}", stdin="\n".join(BAD))
  assert "not one of 3 instances can be read" in outcome.error
  assert [one["instance"] for one in commands.read_records(out)] == list(BAD)
  # A corrected file can be given at once.
  assert run_solve("--instance=010/111/010", f"--out={out}").code == 0
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
def test_what_cannot_work_is_refused_in_one_line(
  name: str, run_solve: commands.RunHere, tmp_path: pathlib.Path
):
  flags, message = REFUSALS[name]
  out = () if name == "resume" else (f"--out={tmp_path}/new/out.jsonl",)
  assert message in run_solve(*flags, *out).error
  left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
  assert left == (["out.jsonl"] if name == "bad instance" else [])


def test_models_that_cannot_be_used_are_refused(
  model: pathlib.Path, run_solve: commands.RunHere, tmp_path: pathlib.Path
):
  assert (
    "there is no model 'rubiks': no such directory"
    in run_solve("--model=rubiks", "--instance=x").error
  )
  assert "is no SavedModel" in run_solve(f"--model={tmp_path}", "--instance=x").error
  copy = shutil.copytree(model, tmp_path / "copy")
  shutil.rmtree(copy / "assets.extra")
  assert "was not written by crtr-export" in run_solve(f"--model={copy}", "--instance=x").error


def test_places_that_cannot_be_written_are_refused_at_once(
  run_solve: commands.RunHere, tmp_path: pathlib.Path
):
  assert "is a folder" in run_solve("--instance=010/111/010", f"--out={tmp_path}").error
  (tmp_path / "file").write_text("")
  assert (
    "cannot be written" in run_solve("--instance=010/111/010", f"--out={tmp_path}/file/x").error
  )


def test_released_models_are_listed(
  run_solve: commands.RunHere,
  model: pathlib.Path,
  tmp_path: pathlib.Path,
  monkeypatch: pytest.MonkeyPatch,
):
  monkeypatch.setattr(names, "_RELEASED", tmp_path)
  assert run_solve("--list_models").out.startswith("this version comes without models")
  shutil.copytree(model, tmp_path / "small_lights")
  (line,) = run_solve("--list_models").out.splitlines()
  words = " ".join(line.split())
  assert words == "small_lights lights_out 3x3: random, 0 steps; searches with bestfs"
  assert "released models are: small_lights" in run_solve("--model=large", "--instance=x").error
  assert run_solve("--model=small_lights", "--instance=010/111/010").records[0]["solved"]
