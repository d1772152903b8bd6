"""Results on models that come with the package, here with one that was trained for four steps."""

import json
import pathlib
from typing import Any

import pytest

from crtr_tf import experiments, export
from crtr_tf.experiments import released_results, runs, tasks

TINY = experiments.SCALES["tiny"]
MODEL = tasks.Released("n_puzzle")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> experiments.Lab:
  return experiments.Lab(tmp_path_factory.mktemp("lab"), TINY, say=lambda _: None, in_process=True)


@pytest.fixture
def released(lab: experiments.Lab, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
  """Makes the lab's own model a released one."""
  folder = lab.directory / "released"
  if not folder.exists():
    run_dir = lab.outcome(tasks.Run("n_puzzle", "crtr")).run_dir
    runs.export_run(run_dir, folder / MODEL.name, export.SolverSettings("astar", alpha="auto"))
  monkeypatch.setattr(export.names, "_RELEASED", folder)
  return folder


def reproduced(name: str, lab: experiments.Lab) -> dict[str, Any]:
  folder = experiments.RESULTS[name].reproduce(lab, 1, lab.directory / "results")
  return json.loads((folder / "result.json").read_text())


@pytest.mark.slow
def test_a_released_model_is_judged_by_its_own_searches(
  lab: experiments.Lab, released: pathlib.Path
):
  result = reproduced("released_models", lab)
  table, training = result["tables"]
  searches = ["best-first", "best-first, one view", "A*", "greedy, 1000 moves"]
  assert [row[1] for row in table["rows"]] == searches
  assert all(row[2] == str(TINY.num_instances) for row in table["rows"])
  assert table["rows"][0][3].endswith("@1000")
  assert training["rows"][0][:2] == ["n_puzzle", "4"]
  assert {one["file"] for one in result["figures"]} >= {"n_puzzle_held_out_spearman.png"}
  assert "gin/cpu/released/n_puzzle_crtr.gin" in result["runs"][0]["command"]


def test_outcomes_belong_to_a_model_and_its_settings_not_to_its_name(
  lab: experiments.Lab, released: pathlib.Path
):
  before = lab.run_dir(MODEL)
  assert before.name.startswith("n_puzzle-")
  file = released / MODEL.name / "assets.extra" / "crtr.json"
  text = file.read_text()
  file.write_text(text.replace('"alpha": "auto"', '"alpha": 3.0'))
  assert lab.run_dir(MODEL) != before
  file.write_text(text)
  assert lab.run_dir(MODEL) == before


@pytest.mark.slow
def test_calibrated_search_is_compared_with_raw_weights(
  lab: experiments.Lab, released: pathlib.Path
):
  result = reproduced("calibrated_astar", lab)
  raw, weights = released_results._RAW["n_puzzle"], released_results._WEIGHTS
  assert len(result["tables"][0]["rows"]) == len(raw) + len(weights)
  assert set(result["numbers"]) == {"n_puzzle"}


def test_models_that_are_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch):
  monkeypatch.setattr(export, "released_models", lambda: ["sokoban", "sokoban_crl"])
  plan = released_results._models_plan(experiments.SCALES["cpu"], 1)
  assert {model.name for model, _ in plan} == {"sokoban", "sokoban_crl"}
  assert all(task.num_instances == 1000 for task in plan.values() if isinstance(task, tasks.Search))


def test_seeds_are_for_the_two_that_are_compared():
  plan = experiments.RESULTS["methods_over_seeds"].plan(experiments.SCALES["cpu"], 3)
  seeds = {method: {key[3] for key in plan if key[1] == method} for method in tasks.METHODS}
  assert seeds["crtr"] == seeds["crl"] == {0, 1, 2}
  assert seeds["supervised"] == seeds["random"] == {0}
