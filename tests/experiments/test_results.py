"""Every result of the paper at a scale of seconds: that it runs, and what its page holds."""

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds

import crtr_tf.datasets  # noqa: F401  (registers the datasets)
from crtr_tf import experiments
from crtr_tf.experiments import ablation_results, parity_results, released_results, tasks
from crtr_tf.experiments.example_results import solved_pieces
from crtr_tf.puzzles.rubiks_cube import geometry

TINY = experiments.SCALES["tiny"]
EXPECTED = {  # all that the paper shows
  "main_result",
  "no_search",
  "no_search_all_methods",
  "table_no_search",
  "table_astar",
  "correlation_sokoban",
  "correlation_digit_jumper",
  "accuracy_sokoban",
  "accuracy_digit_jumper",
  "tsne_sokoban",
  "tsne_digit_jumper",
  "conditional_mutual_information",
  "repetition_factor",
  "negatives_cube",
  "negatives_sokoban",
  "architecture_grid",
  "learning_rate_batch_grid",
  "loss_grid",
  "metric_grid",
  "correlation_vs_success",
  "solving_example",
  "robotics",
  "hamming_context",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> experiments.Lab:
  """One for all results, which share their runs."""
  return experiments.Lab(tmp_path_factory.mktemp("lab"), TINY, say=lambda _: None, in_process=True)


def reproduced(name: str, lab: experiments.Lab) -> dict[str, Any]:
  folder = experiments.RESULTS[name].reproduce(lab, 1, lab.directory / "results")
  result = json.loads((folder / "result.json").read_text())
  for figure in result["figures"]:
    assert (folder / figure["file"]).read_bytes().startswith(b"\x89PNG")
  for table in result["tables"]:
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
  return result


def test_all_results_of_the_paper_are_there():
  beyond = {result.name for result in (*released_results.RESULTS, *parity_results.RESULTS)}
  assert set(experiments.RESULTS) == EXPECTED | beyond


@pytest.mark.slow
def test_main_result_has_a_rising_curve_for_each_puzzle_and_method(lab: experiments.Lab):
  result = reproduced("main_result", lab)
  assert set(result["numbers"]) == set(TINY.puzzles)
  for by_method in result["numbers"].values():
    assert set(by_method) == set(tasks.METHODS)
    for curve in by_method.values():
      assert np.all(np.diff(curve["solved"]) >= 0)
      assert curve["budgets"][-1] == 50
  rates = [float(cell) for row in result["tables"][0]["rows"] for cell in row[1:]]
  assert all(0 <= rate <= 1 for rate in rates) and max(rates) > 0
  assert len(result["runs"]) == 10
  assert "crtr-train" in result["runs"][0]["command"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no_search", "no_search_all_methods"])
def test_walks_are_compared_by_their_length(name: str, lab: experiments.Lab):
  result = reproduced(name, lab)
  lines = {
    "no_search": {"no search", "search"},
    "no_search_all_methods": {"crtr", "crl", "supervised"},
  }
  for by_line in result["numbers"].values():
    assert set(by_line) == lines[name]
    for curve in by_line.values():
      assert curve["lengths"][0] == 0 and np.all(np.diff(curve["solved"]) >= 0)


@pytest.mark.slow
def test_lengths_without_search_are_those_of_solved_walks(lab: experiments.Lab):
  result = reproduced("table_no_search", lab)
  for entry in result["numbers"].values():
    for rate, length in zip(entry["solved"], entry["mean_lengths"], strict=True):
      assert (length is None) == (rate == 0)
      assert length is None or 0 < length <= TINY.max_steps


@pytest.mark.slow
def test_astar_with_no_weight_is_best_first_search(lab: experiments.Lab):
  result = reproduced("table_astar", lab)
  for method in tasks.CONTRASTIVE:
    best_first = lab.outcome(tasks.Search(tasks.Run("rubiks_cube", method)))
    assert result["numbers"][method]["0.0"]["solved"] == [float(best_first.solved.mean())]


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", ["sokoban", "digit_jumper"])
def test_curves_over_training_are_those_that_were_logged(puzzle: str, lab: experiments.Lab):
  for kind, metric in (
    ("correlation", "held_out_spearman"),
    ("accuracy", "held_out_accuracy_backward"),
  ):
    numbers = reproduced(f"{kind}_{puzzle}", lab)["numbers"]
    for method in tasks.CONTRASTIVE:
      steps, values = lab.outcome(tasks.Run(puzzle, method)).metrics[metric]
      assert numbers[method] == {"steps": steps, "values": values}
      assert steps == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", ["sokoban", "digit_jumper"])
def test_tsne_says_what_its_plane_is_ordered_by(puzzle: str, lab: experiments.Lab):
  result = reproduced(f"tsne_{puzzle}", lab)
  for shares in result["numbers"].values():
    assert 0 < shares["between_trajectories"] < 1
    assert 0 <= shares["explained_by_progress"] < 1


@pytest.mark.slow
def test_information_is_that_of_the_measures(lab: experiments.Lab):
  result = reproduced("conditional_mutual_information", lab)
  measured = lab.outcome(tasks.Measure(tasks.Run("sokoban", "crl")))
  assert result["numbers"]["sokoban"]["crl"] == measured["conditional_mutual_information"]


@pytest.mark.slow
def test_repetition_shares_its_runs_with_the_main_result(lab: experiments.Lab):
  plan = experiments.RESULTS["repetition_factor"].plan(TINY, 1)
  main = experiments.RESULTS["main_result"].plan(TINY, 1)
  shared = set(plan.values()) & set(main.values())
  assert len(shared) == 2 * 2  # factors 1 and 2 of two puzzles
  result = reproduced("repetition_factor", lab)
  assert set(result["numbers"]["solved"]["n_puzzle"]) == {"1", "2", "4"}


@pytest.mark.slow
def test_methods_are_compared_by_time_search_and_walks(lab: experiments.Lab):
  result = reproduced("methods_over_seeds", lab)
  (table,) = result["tables"]
  methods = ["CRTR", "CRL", "Supervised", "Random"]
  assert [row[:2] for row in table["rows"]] == [
    [puzzle, method] for puzzle in TINY.puzzles for method in methods
  ]
  run = tasks.Run("rubiks_cube", "crtr")
  measured, searched = (lab.outcome(task) for task in (tasks.Measure(run), tasks.Search(run)))
  assert result["numbers"]["rubiks_cube"]["crtr"]["spearman"] == [measured["spearman"]]
  assert result["numbers"]["rubiks_cube"]["crtr"]["solved"] == [searched.solved.mean()]


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", ["cube", "sokoban"])
def test_negatives_compare_all_strategies(puzzle: str, lab: experiments.Lab):
  rows = [row[0] for row in reproduced(f"negatives_{puzzle}", lab)["tables"][0]["rows"]]
  assert rows[:2] == ["CRTR", "CRL"]
  assert rows[2:] == ["uniform", "uniform, normalised"]


def test_negatives_are_the_papers():
  cube = ablation_results.negatives_runs("rubiks_cube", experiments.SCALES["paper"], seed=0)
  assert list(cube)[2::2] == ["uniform", "first", "farther"]
  plain, normalised = cube["uniform"].bindings, cube["uniform, normalised"].bindings
  assert plain[:2] == normalised[:2]
  assert "ContrastiveMethod.positive_in_denominator = False" in plain


@pytest.mark.slow
@pytest.mark.parametrize(
  ("name", "shape"),
  [
    ("architecture_grid", (1, 2)),
    ("learning_rate_batch_grid", (1, 2)),
    ("loss_grid", (2, 1)),
    ("metric_grid", (2, 1)),
  ],
)
def test_grids_are_full(name: str, shape: tuple[int, int], lab: experiments.Lab):
  table = reproduced(name, lab)["tables"][0]
  assert (len(table["rows"]), len(table["columns"]) - 1) == shape
  assert all(0 <= float(cell) <= 1 for row in table["rows"] for cell in row[1:])


@pytest.mark.parametrize(("name", "values"), [("loss_grid", 3), ("metric_grid", 4)])
def test_choices_are_all_made_at_the_scales_that_count(name: str, values: int):
  for scale in ("cpu", "paper"):
    assert len(experiments.RESULTS[name].plan(experiments.SCALES[scale], 1)) == 2 * values


@pytest.mark.slow
def test_correlation_with_success_is_over_the_grid(lab: experiments.Lab):
  numbers = reproduced("correlation_vs_success", lab)["numbers"]["rubiks_cube"]
  assert len(numbers["runs"]) == len(numbers["solved"]) == len(numbers["spearman"]) == 2


def test_the_papers_grid_has_96_runs_a_puzzle():
  plan = experiments.RESULTS["correlation_vs_success"].plan(experiments.SCALES["paper"], 1)
  assert sum(isinstance(task, tasks.Search) for task in plan.values()) == 2 * 96


@pytest.mark.slow
def test_the_example_ends_with_all_pieces_in_place(lab: experiments.Lab):
  result = reproduced("solving_example", lab)
  assert result["numbers"]["solved"] > 0
  assert result["numbers"]["pieces"][-1] == 20
  assert result["numbers"]["pieces"][0] < 20


def test_a_quarter_turn_takes_eight_pieces_out_of_place():
  turned = geometry.SOLVED[geometry.move_permutations()]
  assert np.array_equal(solved_pieces(turned), np.full(12, 12))
  assert solved_pieces(geometry.SOLVED[None]).tolist() == [20]


def test_hamming_distance_tells_more_than_chance(lab: experiments.Lab):
  numbers = reproduced("hamming_context", lab)["numbers"]
  assert all(0.6 < accuracy < 1 for accuracy in numbers.values())


@pytest.mark.slow
def test_robotics_runs_on_any_rlds_dataset(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
  real_builder = tfds.builder

  def builder(name: str, **kwargs: Any) -> tfds.core.DatasetBuilder:
    return real_builder(name, **{**kwargs, "data_dir": tmp_path / "data"})

  monkeypatch.setattr(tfds, "builder", builder)
  builder(TINY.dataset["robotics"]).download_and_prepare()
  lab = experiments.Lab(tmp_path, TINY, say=lambda _: None, in_process=True)
  result = reproduced("robotics", lab)
  assert result["numbers"].keys() >= {"pen"}
  assert all(-1 <= value <= 1 for value in result["numbers"]["pen"]["crtr"])


def test_robotics_says_which_download_it_needs(tmp_path: pathlib.Path):
  without = {name: value for name, value in TINY.dataset.items() if name != "robotics"}
  lab = experiments.Lab(tmp_path, dataclasses.replace(TINY, dataset=without), in_process=True)
  result = reproduced("robotics", lab)
  assert "tfds build d4rl_adroit_pen" in result["remarks"][0]
  assert result["numbers"]["missing"] == ["pen", "door", "hammer", "relocate"]
