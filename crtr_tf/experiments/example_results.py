"""A cube solved without search, step by step; and time in robots' trajectories."""

import numpy as np
import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.evaluation import plots
from crtr_tf.evaluation.curves import Curve
from crtr_tf.experiments.lab import Lab, Trained, dataset_builder
from crtr_tf.experiments.page import Page, Table, mean_and_error
from crtr_tf.experiments.representation_results import logged_curve
from crtr_tf.experiments.result import Key, Plan, Result
from crtr_tf.experiments.scales import Scale
from crtr_tf.experiments.success_results import seeds_of
from crtr_tf.experiments.tasks import CONTRASTIVE, ROBOTICS, Run
from crtr_tf.puzzles import drawing
from crtr_tf.puzzles.rubiks_cube import geometry

_EXAMPLE_SEED = 0
_CANDIDATES = 64  # scrambles, of which the one with the longest solved walk is shown
_PANELS = 12
_SPEARMAN = "held_out_spearman"
_ROBOT_DATASETS = ("pen", "door", "hammer", "relocate")


def solved_pieces(states: np.ndarray) -> np.ndarray:
  """How many of the 20 corner and edge pieces are in place and turned right: [T, 54] -> [T] int."""
  right = np.asarray(states) == geometry.SOLVED
  corners, edges = geometry.pieces()
  return right[:, corners].all(axis=2).sum(axis=1) + right[:, edges].all(axis=2).sum(axis=1)


def _example_plan(scale: Scale, num_seeds: int) -> Plan:
  del scale, num_seeds
  return {("crtr",): Run("rubiks_cube", "crtr")}


def _example_page(outcomes: dict[Key, Trained], lab: Lab) -> Page:
  del outcomes
  model = lab.load(Run("rubiks_cube", "crtr"))
  parameters = {**puzzles.parameters(model.puzzle), **dict(lab.scale.difficulty["rubiks_cube"])}
  cube = puzzles.RubiksCube(**parameters)
  cubes = cube.instances(_EXAMPLE_SEED, tf.range(_CANDIDATES, dtype=tf.int64)).numpy()
  walks = model.solver(solver="greedy", max_steps=lab.scale.max_steps).solve(cubes)
  solved, lengths = walks.solved.numpy(), walks.lengths.numpy()
  page = Page(numbers={"scrambles": _CANDIDATES, "solved": int(solved.sum())})
  if not solved.any():
    page.remarks.append(f"None of {_CANDIDATES} scrambles was solved without search.")
    return page
  shown = int(np.argmax(np.where(solved, lengths, -1)))
  plan = walks.plan(shown)
  states = puzzles.replay(cube, cubes[shown], plan)
  pieces = solved_pieces(states)
  curve = Curve(np.arange(len(pieces)), pieces, pieces, pieces)
  page.figures["steps"] = (
    drawing.draw_solution(cube, states, plan, max_panels=_PANELS),
    f"A walk of {len(plan)} moves to the nearest neighbour, again and again",
  )
  counts = plots.draw_curves({"crtr": curve}, "moves", "pieces in place (of 20)")
  counts.axes[0].set_yticks(range(0, 21, 4))
  page.figures["pieces"] = (counts, "Blocks being built: pieces in place over time")
  page.numbers |= {"plan": cube.format_plan(cubes[shown], plan), "pieces": pieces.tolist()}
  page.remarks.append(
    f"{solved.sum()} of {_CANDIDATES} scrambles are solved without search; shown is the longest "
    "of these walks."
  )
  return page


def _robot_name(task: str, scale: Scale) -> str:
  return scale.dataset.get(ROBOTICS) or f"d4rl_adroit_{task}/v0-expert"


def _robotics_plan(scale: Scale, num_seeds: int) -> Plan:
  """Runs on those datasets that are there: none is fetched without being asked for."""
  tasks = _ROBOT_DATASETS if ROBOTICS not in scale.dataset else _ROBOT_DATASETS[:1]
  names = {task: _robot_name(task, scale) for task in tasks}
  return {
    (task, method, seed): Run(ROBOTICS, method, seed, (f'RLDS = "{name}"',))
    for task, name in names.items()
    if dataset_builder(name).is_prepared()
    for method in CONTRASTIVE
    for seed in range(num_seeds)
  }


def _robotics_page(outcomes: dict[Key, Trained], lab: Lab) -> Page:
  page = Page()
  found = list(dict.fromkeys(key[0] for key in outcomes))
  missing = [task for task in _ROBOT_DATASETS if task not in found]
  rows = []
  for task in found:
    by_method = {method: seeds_of(outcomes, task, method) for method in CONTRASTIVE}
    drawn = {method: logged_curve(group, _SPEARMAN) for method, group in by_method.items()}
    finals = [[one.metrics[_SPEARMAN][1][-1] for one in group] for group in by_method.values()]
    page.figures[task] = (
      plots.draw_curves(drawn, "training steps", "Spearman's rank correlation"),
      f"{_robot_name(task, lab.scale)}",
    )
    page.numbers[task] = {method: drawn[method].values.tolist() for method in CONTRASTIVE}
    rows.append([task, *(mean_and_error(values) for values in finals)])
  if rows:
    columns = ["dataset", *(plots.label(method) for method in CONTRASTIVE)]
    page.tables.append(Table("Spearman's correlation at the end", columns, rows))
  if missing:
    page.numbers["missing"] = missing
    page.remarks.append(
      f"Not run for {', '.join(missing)}: the D4RL datasets are not on this machine and need a "
      "download. Fetch one with `tfds build d4rl_adroit_pen/v0-expert` and repeat the command."
    )
  return page


RESULTS = (
  Result(
    "solving_example",
    "A cube solved without search, drawn step by step",
    "Greedy walks of about 400 moves build blocks, as people do.",
    _example_plan,
    _example_page,
  ),
  Result(
    "robotics",
    "Rank correlation on robots' trajectories (D4RL Adroit)",
    "CRTR above 0.9; CRL 0.5 to 0.8 and unstable.",
    _robotics_plan,
    _robotics_page,
  ),
)
