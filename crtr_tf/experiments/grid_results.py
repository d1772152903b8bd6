"""Grids of choices on the cube: network, learning rate, loss, metric; what predicts success."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from crtr_tf.evaluation import plots
from crtr_tf.evaluation.evaluate import Solved
from crtr_tf.experiments.lab import Lab
from crtr_tf.experiments.page import Page, Table, mean_and_error, number
from crtr_tf.experiments.result import Key, Plan, PlanFn, PresentFn, Result
from crtr_tf.experiments.scales import Scale, some
from crtr_tf.experiments.success_results import add_success_curves, rate, seeds_of
from crtr_tf.experiments.tasks import CONTRASTIVE, Measure, Run, Search

_WIDTHS = {"paper": (256, 512, 1024), "cpu": (64, 128, 256), "tiny": (8,)}
_DEPTHS = {"paper": (4, 6, 8), "cpu": (2, 4), "tiny": (2, 4)}
_RATES = {"paper": (1e-4, 3e-4, 1e-3), "cpu": (3e-4, 1e-3, 3e-3), "tiny": (1e-3,)}
_BATCHES = {"paper": (256, 512, 1024), "cpu": (256, 512), "tiny": (8, 16)}
_DIRECTIONS = ("backward", "forward", "symmetric")
_METRICS = ("dot", "l2", "l2_squared", "l1")
# depth, width, size of the representation, metric
_CORRELATION_GRID = {
  "paper": ((8, 6, 4, 2), (1024, 16), (64, 32, 16, 8), ("dot", "l2", "l2_squared")),
  "cpu": ((2,), (128, 16), (64, 8), ("dot", "l2", "l2_squared")),
  "tiny": ((2,), (16, 8), (8,), ("dot",)),
}
_CORRELATION_PUZZLES = {
  "paper": ("sokoban", "rubiks_cube"),
  "cpu": ("rubiks_cube",),
  "tiny": ("rubiks_cube",),
}


def _grid_plan(
  rows: tuple[str, Mapping[str, Sequence[Any]]],
  columns: tuple[str, Mapping[str, Sequence[Any]]],
  methods: Sequence[str],
) -> PlanFn:
  """All combinations of two bindings on the cube, for each of the methods."""

  def plan(scale: Scale, num_seeds: int) -> Plan:
    (row_name, row_values), (column_name, column_values) = rows, columns
    return {
      (method, row, column, seed): Search(
        Run(
          "rubiks_cube",
          method,
          seed,
          (f"{row_name} = {row!r}", f"{column_name} = {column!r}"),
        )
      )
      for method in methods
      for row in row_values[scale.name]
      for column in column_values[scale.name]
      for seed in range(num_seeds)
    }

  return plan


def _grid_page(row_label: str, column_label: str) -> PresentFn:
  def present(outcomes: dict[Key, Solved], lab: Lab) -> Page:
    page = Page()
    for method in dict.fromkeys(key[0] for key in outcomes):
      rows = list(dict.fromkeys(key[1] for key in outcomes))
      columns = list(dict.fromkeys(key[2] for key in outcomes))
      cells = [
        [[float(x.solved.mean()) for x in seeds_of(outcomes, method, row, column)]
         for column in columns]
        for row in rows
      ]  # fmt: skip
      page.tables.append(
        Table(
          f"{plots.label(method)}: share of cubes solved, {lab.scale.budgets['rubiks_cube']} nodes",
          [f"{row_label} \\ {column_label}", *map(str, columns)],
          [[str(row), *map(mean_and_error, line)] for row, line in zip(rows, cells, strict=True)],
        )
      )
      means = np.mean(cells, axis=2)
      page.numbers[method] = {"rows": rows, "columns": columns, "solved": means.tolist()}
      page.figures[method] = (
        plots.draw_grid(means, rows, columns, row_label, column_label),
        plots.label(method),
      )
    return page

  return present


def _choice_plan(name: str, values: Sequence[str]) -> PlanFn:
  """All values of one binding on the cube, for CRTR and CRL."""

  def plan(scale: Scale, num_seeds: int) -> Plan:
    return {
      (method, value, seed): Search(Run("rubiks_cube", method, seed, (f"{name} = {value!r}",)))
      for method in CONTRASTIVE
      for value in some(values, scale)
      for seed in range(num_seeds)
    }

  return plan


def _choice_page(outcomes: dict[Key, Solved], lab: Lab) -> Page:
  page = Page()
  values = list(dict.fromkeys(key[1] for key in outcomes))
  budget = lab.scale.budgets["rubiks_cube"]
  for method in CONTRASTIVE:
    found = {value: seeds_of(outcomes, method, value) for value in values}
    add_success_curves(page, method, found, budget)
  page.tables.append(
    Table(
      f"Share of cubes solved, {budget} nodes",
      ["", *values],
      [
        [plots.label(method), *(rate(seeds_of(outcomes, method, value)) for value in values)]
        for method in CONTRASTIVE
      ],
    )
  )
  return page


def _correlation_plan(scale: Scale, num_seeds: int) -> Plan:
  plan: Plan = {}
  for puzzle in _CORRELATION_PUZZLES[scale.name]:
    # The convolutional experiments have widths and depths of another encoder.
    kind = "conv_encoder" if (puzzle, scale.folder) == ("sokoban", "paper") else "dense_encoder"
    for depth, width, size, metric in itertools.product(*_CORRELATION_GRID[scale.name]):
      for seed in range(num_seeds):
        run = Run(
          puzzle,
          "crtr",
          seed,
          (
            f"{kind}.depth = {depth}",
            f"{kind}.width = {width}",
            f"{kind}.representation_dim = {size}",
            f'ContrastiveMethod.metric = "{metric}"',
          ),
        )
        key = (puzzle, depth, width, size, metric, seed)
        plan[("solved", *key)] = Search(run)
        plan[("measured", *key)] = Measure(run)
  return plan


def _correlation_page(outcomes: dict[Key, Any], lab: Lab) -> Page:
  page = Page()
  rows = []
  for puzzle in _CORRELATION_PUZZLES[lab.scale.name]:
    keys = [key[1:] for key in outcomes if key[:2] == ("solved", puzzle)]
    success = np.array([outcomes["solved", *key].solved.mean() for key in keys])
    spearman = np.array([outcomes["measured", *key]["spearman"] for key in keys])
    varied = len(keys) > 1 and np.ptp(success) > 0 and np.ptp(spearman) > 0
    coefficient = float(stats.pearsonr(spearman, success).statistic) if varied else None
    ax = plots.new_axes()
    ax.scatter(spearman, success, s=18, color=plots.colours(["crtr"])["crtr"])
    plots.name_axes(ax, "Spearman's rank correlation", "problems solved")
    page.figures[puzzle] = (ax.figure, f"{puzzle}: a point for each run of the grid")
    page.numbers[puzzle] = {
      "runs": [list(key[1:]) for key in keys],
      "spearman": spearman.tolist(),
      "solved": success.tolist(),
      "correlation": coefficient,
    }
    rows.append([puzzle, str(len(keys)), number(coefficient)])
  columns = ["puzzle", "runs", "correlation of Spearman and success"]
  page.tables.append(Table("Does Spearman's correlation predict success?", columns, rows))
  if lab.scale.name != "paper":
    page.remarks.append("A subset of the paper's grid of 96 runs, on the cube only.")
  return page


RESULTS = (
  Result(
    "architecture_grid",
    "Width and depth (CRL on the cube)",
    "8 layers of 512 were best.",
    _grid_plan(("dense_encoder.width", _WIDTHS), ("dense_encoder.depth", _DEPTHS), ("crl",)),
    _grid_page("width", "depth"),
  ),
  Result(
    "learning_rate_batch_grid",
    "Learning rate and batch size (CRL on the cube)",
    "A learning rate of 3e-4 with batches of 512 works well.",
    _grid_plan(("adam.learning_rate", _RATES), ("train.batch_size", _BATCHES), ("crl",)),
    _grid_page("learning rate", "batch"),
  ),
  Result(
    "loss_grid",
    "Direction of the contrastive loss (cube)",
    "The backward loss outperforms the symmetrised one.",
    _choice_plan("ContrastiveMethod.loss_direction", _DIRECTIONS),
    _choice_page,
  ),
  Result(
    "metric_grid",
    "Metric of the critic (cube)",
    "CRL does equally well with l2 and dot; CRTR is much better with dot.",
    _choice_plan("ContrastiveMethod.metric", _METRICS),
    _choice_page,
  ),
  Result(
    "correlation_vs_success",
    "Rank correlation as a measure of representations",
    "Over 96 short runs the two correlate: 0.89 for Sokoban, 0.90 for the cube.",
    _correlation_plan,
    _correlation_page,
  ),
)
