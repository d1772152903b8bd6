"""The paper's point in minutes: Digit Jumper, CRTR beside CRL, from data to solved boards."""

import dataclasses
from typing import Any

from crtr_tf.evaluation import curves, plots
from crtr_tf.experiments import representation_results
from crtr_tf.experiments.lab import Lab
from crtr_tf.experiments.page import Page, Table, number
from crtr_tf.experiments.result import Key, Plan, Result
from crtr_tf.experiments.scales import CPU, TINY, Scale, training_bindings
from crtr_tf.experiments.tasks import CONTRASTIVE, Measure, Run, Search

PUZZLE = "digit_jumper"
BUDGETS = (10, 100, 1000)
_STEPS = 800

SCALE = dataclasses.replace(
  CPU,
  name="quickstart",
  layers={PUZZLE: ("gin/training/recorded.gin",)},
  bindings={PUZZLE: training_bindings(_STEPS, log_every=50, evaluate_every=200)},
  dataset={PUZZLE: {"num_train": 8000, "num_test": 200}},
  budgets={PUZZLE: max(BUDGETS)},
  shrunk=(
    f"Digit Jumper 20x20 with a network of two hidden layers of 256, {_STEPS:,} steps of 512 pairs "
    "from 8,000 recorded trajectories; 200 boards that were not seen in training; one seed."
  ),
)

TINY_SCALE = dataclasses.replace(
  TINY,
  name="tiny",
  layers=SCALE.layers,
  dataset={PUZZLE: {"puzzle": {"height": 5, "width": 5}, "num_train": 64, "num_test": 32}},
)


def _plan(scale: Scale, num_seeds: int) -> Plan:
  del scale, num_seeds
  runs = {method: Run(PUZZLE, method) for method in CONTRASTIVE}
  return {
    **{("searched", method): Search(run) for method, run in runs.items()},
    **{("measured", method): Measure(run) for method, run in runs.items()},
  }


def _page(outcomes: dict[Key, Any], lab: Lab) -> Page:
  rows, drawn = [], {}
  page = representation_results.tsne_page(PUZZLE)({}, lab)
  for method in CONTRASTIVE:
    solved, measured = outcomes["searched", method], outcomes["measured", method]
    # Each in the task that it was trained on: pairs of one trajectory, as many as its batches have.
    factor = str(1 + (method == "crtr"))
    accuracy = measured["accuracy"][factor]["state_to_goal"]
    shares = curves.success_curve(solved.solved, solved.nodes, BUDGETS).values.tolist()
    cells = [measured["spearman"], accuracy, *shares]
    rows.append([plots.label(method), *(number(cell) for cell in cells)])
    budgets = curves.default_budgets(max(BUDGETS))
    drawn[method] = curves.success_curve(solved.solved, solved.nodes, budgets)
    page.numbers[method] = {
      **page.numbers[method],
      "spearman": measured["spearman"],
      "accuracy": accuracy,
      "solved": dict(zip(map(str, BUDGETS), shares, strict=True)),
    }
  columns = ["", "Spearman", "accuracy", *(f"solved at {budget:,} nodes" for budget in BUDGETS)]
  page.tables.append(Table("Digit Jumper: 200 unseen boards", columns, rows))
  page.figures["success"] = (plots.draw_success(drawn), "Solved within a budget of nodes")
  page.remarks.append(
    "CRL tells trajectories apart almost without error, by their boards, and learns little about "
    "time; CRTR, whose negatives share the board, has to learn time, and solves with few nodes. A "
    "board has 400 states: with 1,000 nodes any search visits them all."
  )
  return page


RESULT = Result(
  "quickstart",
  "Repetition makes distance tell time",
  "CRL: near-perfect accuracy, poor correlation and success. CRTR: the reverse.",
  _plan,
  _page,
  command="crtr-quickstart",
)
