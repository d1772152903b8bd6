"""What in-trajectory negatives matter: how many, and made how."""

import itertools

import numpy as np

from crtr_tf.evaluation import plots
from crtr_tf.evaluation.curves import Curve
from crtr_tf.evaluation.evaluate import Solved
from crtr_tf.experiments.lab import Lab
from crtr_tf.experiments.page import Page, Table
from crtr_tf.experiments.result import Key, Plan, PlanFn, PresentFn, Result
from crtr_tf.experiments.scales import Scale, some
from crtr_tf.experiments.success_results import add_success_curves, rate, rates, seeds_of
from crtr_tf.experiments.tasks import CONTRASTIVE, Run, Search

_REPETITION_PUZZLES = ("sokoban", "n_puzzle", "rubiks_cube")
_REPETITION_FACTORS = {"paper": (1, 2, 4, 8, 16), "cpu": (1, 2, 4, 8), "tiny": (1, 2, 4)}
_SCRAMBLES = {"paper": (10, 15, 20), "cpu": (4, 6, 8), "tiny": (1, 2)}
_STRATEGIES = {
  "rubiks_cube": ("uniform", "first", "farther"),
  "sokoban": ("uniform", "first", "last"),
}


def repeated(puzzle: str, factor: int, seed: int) -> Run:
  """CRL and CRTR under their names, so that other results share the runs."""
  if factor in (1, 2):
    return Run(puzzle, CONTRASTIVE[2 - factor], seed)
  return Run(puzzle, "crtr", seed, (f"ContrastiveMethod.repetition_factor = {factor}",))


def _repetition_plan(scale: Scale, num_seeds: int) -> Plan:
  return {
    (puzzle, factor, seed): Search(repeated(puzzle, factor, seed))
    for puzzle in _REPETITION_PUZZLES
    for factor in _REPETITION_FACTORS[scale.name]
    for seed in range(num_seeds)
  }


def _repetition_page(outcomes: dict[Key, Solved], lab: Lab) -> Page:
  page = Page()
  factors = _REPETITION_FACTORS[lab.scale.name]
  rows, overview = [], {}
  for puzzle in _REPETITION_PUZZLES:
    found = {factor: seeds_of(outcomes, puzzle, factor) for factor in factors}
    by_factor = {f"R = {factor}": group for factor, group in found.items()}
    add_success_curves(page, puzzle, by_factor, lab.scale.budgets[puzzle])
    means = np.array([np.mean(rates(group)) for group in found.values()])
    overview[puzzle] = Curve(np.array(factors), means, means, means)
    rows.append([puzzle, *map(rate, found.values())])
    page.numbers.setdefault("solved", {})[puzzle] = dict(
      zip(map(str, factors), means.tolist(), strict=True)
    )
  fig = plots.draw_curves(overview, "repetition factor", "problems solved", markers=True)
  fig.axes[0].set_xscale("log", base=2)
  fig.axes[0].set_xticks(factors, [str(factor) for factor in factors])
  page.figures["repetition_factor"] = (fig, "Solved within the whole budget")
  page.tables.append(
    Table("Share solved", ["puzzle", *(f"R = {factor}" for factor in factors)], rows)
  )
  best = [f"R = {factors[np.argmax(curve.values)]} ({name})" for name, curve in overview.items()]
  page.remarks.append(f"The most are solved with {', '.join(best)}.")
  return page


def negatives_runs(puzzle: str, scale: Scale, seed: int) -> dict[str, Run]:
  """CRTR, CRL, and CRL with extra in-trajectory negatives, plain and normalised."""
  named = {plots.label(method): Run(puzzle, method, seed) for method in CONTRASTIVE}
  strategies = some(_STRATEGIES[puzzle], scale)
  for strategy, normalised in itertools.product(strategies, (False, True)):
    named[f"{strategy}{', normalised' if normalised else ''}"] = Run(
      puzzle,
      "crl",
      seed,
      (
        f'ContrastiveMethod.negatives = "{strategy}"',
        "ContrastiveMethod.positive_in_denominator = False",
        f"ContrastiveMethod.normalize_negatives = {normalised}",
      ),
    )
  return named


def _negatives_plan(puzzle: str) -> PlanFn:
  def plan(scale: Scale, num_seeds: int) -> Plan:
    moves = _SCRAMBLES[scale.name] if puzzle == "rubiks_cube" else (None,)
    return {
      (name, scramble, seed): Search(
        run, difficulty=() if scramble is None else (("evaluation_moves", scramble),)
      )
      for scramble in moves
      for seed in range(num_seeds)
      for name, run in negatives_runs(puzzle, scale, seed).items()
    }

  return plan


def _negatives_page(puzzle: str) -> PresentFn:
  def present(outcomes: dict[Key, Solved], lab: Lab) -> Page:
    page = Page()
    scrambles = list(dict.fromkeys(key[1] for key in outcomes))
    names = list(dict.fromkeys(key[0] for key in outcomes))
    for scramble in scrambles:
      found = {name: seeds_of(outcomes, name, scramble) for name in names}
      title = puzzle if scramble is None else f"{scramble}_moves"
      add_success_curves(page, title, found, lab.scale.budgets[puzzle])
    heads = ["" if scramble is None else f"{scramble} moves" for scramble in scrambles]
    rows = [
      [name, *(rate(seeds_of(outcomes, name, scramble)) for scramble in scrambles)]
      for name in names
    ]
    page.tables.append(Table("Share solved", ["negatives", *heads], rows))
    return page

  return present


RESULTS = (
  Result(
    "repetition_factor",
    "How often a trajectory is repeated in a batch",
    "R = 2 improves on R = 1 everywhere; larger factors cost a little in Sokoban, more elsewhere.",
    _repetition_plan,
    _repetition_page,
  ),
  Result(
    "negatives_cube",
    "Other ways to in-trajectory negatives: the cube",
    "Normalised negatives match CRTR at 10 scrambles; at 15 and 20 CRTR is ahead of all.",
    _negatives_plan("rubiks_cube"),
    _negatives_page("rubiks_cube"),
  ),
  Result(
    "negatives_sokoban",
    "Other ways to in-trajectory negatives: Sokoban",
    "Only CRTR is effective.",
    _negatives_plan("sokoban"),
    _negatives_page("sokoban"),
  ),
)
