"""crtr-evaluate: numbers that agree with each other, and plots of them."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export
from crtr_tf.evaluation import bulk, evaluate
from tests.cli import commands


@pytest.mark.slow
def test_generated_instances(model: pathlib.Path, tmp_path: pathlib.Path):
  outcome = commands.run(
    "evaluate", f"--model={model}", "--num_instances=21", "--num_trajectories=15", "--seed=3",
    f"--out_dir={tmp_path / 'new' / 'folder'}",
  )  # fmt: skip
  assert outcome.code == 0, outcome.err
  record = json.loads((tmp_path / "new" / "folder" / "evaluation.json").read_text())
  search = record["search"]
  assert search["instances"] == 21 and 0 < search["solved"] < 21
  assert f"solved      {search['solved']} of 21" in outcome.out
  assert search["success_rate"] == pytest.approx(search["solved"] / 21)
  low, high = search["success_interval"]
  assert low < search["success_rate"] < high
  curve = search["success_curve"]
  assert curve["budgets"][-1] == 400 and curve["values"][-1] == search["success_rate"]
  assert sum(search["length_histogram"]["counts"]) == search["solved"]
  assert search["optimality_gap"]["count"] == search["solved"]
  assert search["optimality_gap"]["mean_excess"] > 0
  times = record["representation"]
  assert times["trajectories"] == 15 and -1 <= times["spearman"] <= 1
  assert set(times["accuracy"]) == {"1", "2"}
  assert len(times["distance_by_steps_left"]["values"]) == 7
  assert record["model"]["weights"] == export.Metadata.read(model).weights
  for name in ("success", "solved_by_length", "distances", "tsne"):
    picture = tf.io.decode_png((tmp_path / "new" / "folder" / f"{name}.png").read_bytes())
    assert min(picture.shape[:2]) > 100
  # The same in a library, on the same instances.
  job = bulk.Job(str(model))
  instances = list(evaluate.generated_instances(commands.BOARDS, 21, seed=3))
  solved = evaluate.Solved.of(bulk.solve_pieces(job, instances), commands.BOARDS)
  assert solved.fingerprint == search["instances_fingerprint"]
  assert int(solved.nodes.sum()) == search["nodes"]["total"]


@pytest.mark.slow
def test_given_instances_and_refusals(model: pathlib.Path, tmp_path: pathlib.Path):
  texts = [*commands.board_texts(4), "010/111/010"]
  (tmp_path / "boards.txt").write_text("\n".join(texts))
  (tmp_path / "bad.txt").write_text("\n".join([*texts, "01"]))
  (tmp_path / "lengths.txt").write_text("1\n1\n")
  given = f"--instances={tmp_path}/boards.txt"
  flags = {
    "good": (given, "--solver=beam", "--beam_width=64", "--max_steps=9"),
    "instance 6: a 3x3 board has 3 rows": (f"--instances={tmp_path}/bad.txt",),
    "expected 5 optimal lengths": (given, f"--optimal_lengths={tmp_path}/lengths.txt"),
    "num_instances must be at least 1; got 0": ("--num_instances=0",),
  }
  common = (f"--model={model}", f"--out_dir={tmp_path}/out", "--num_trajectories=2")
  processes = {name: commands.start("evaluate", *common, *one) for name, one in flags.items()}
  outcomes = {}
  for name, process in processes.items():
    out, err = process.communicate(timeout=300)
    outcomes[name] = commands.Outcome(process.returncode, out, err)
  good = outcomes.pop("good")
  assert good.code == 0, good.err
  record = json.loads((tmp_path / "out" / "evaluation.json").read_text())
  assert record["search"]["instances"] == 5 and record["solver"]["solver"] == "beam"
  # There are too few states for more neighbours, and enough for a picture.
  assert set(record["representation"]["conditional_mutual_information"]) == {"3", "5", "10"}
  assert (tmp_path / "out" / "tsne.png").is_file()
  for words, outcome in outcomes.items():
    assert words in outcome.error


def test_results_of_pieces_are_put_together(model: pathlib.Path):
  job = bulk.Job(str(model), num_lanes=2)
  instances = list(evaluate.generated_instances(commands.BOARDS, 19, seed=0))
  pieces = list(bulk.solve_pieces(job, instances))
  assert [len(piece.states) for piece in pieces] == [8, 8, 3]
  solved = evaluate.Solved.of(pieces, commands.BOARDS)
  expected = np.concatenate([piece.result.solved for piece in pieces])
  np.testing.assert_array_equal(solved.solved, expected)
  presses = [commands.BOARDS.optimal_presses(state).sum() for state in instances]
  np.testing.assert_array_equal(solved.optimal, presses)
  assert np.all(solved.lengths[solved.solved] >= solved.optimal[solved.solved])
  with pytest.raises(ValueError, match="there are no instances"):
    evaluate.Solved.of([], commands.BOARDS)
