"""What representations look like: correlation and accuracy over training, t-SNE, information."""

from typing import Any

import numpy as np
import tensorflow as tf

from crtr_tf import data, puzzles
from crtr_tf.data.pipeline import TrajectorySource
from crtr_tf.evaluation import accuracy, plots, tsne
from crtr_tf.evaluation.curves import Curve
from crtr_tf.experiments.lab import Lab, Trained
from crtr_tf.experiments.page import Page, Table, mean_and_error, number
from crtr_tf.experiments.result import Key, Plan, PlanFn, PresentFn, Result
from crtr_tf.experiments.scales import Scale
from crtr_tf.experiments.success_results import over_seeds, seeds_of
from crtr_tf.experiments.tasks import CONTRASTIVE, Measure, Run

_CONTEXT_PUZZLES = ("sokoban", "digit_jumper")
_TITLES = {"sokoban": "Sokoban", "digit_jumper": "Digit Jumper"}
_TSNE_TRAJECTORIES = 12
_TSNE_SEED = 0


def _training_plan(puzzle: str) -> PlanFn:
  def plan(scale: Scale, num_seeds: int) -> Plan:
    del scale
    return {
      (method, seed): Run(puzzle, method, seed)
      for method in CONTRASTIVE
      for seed in range(num_seeds)
    }

  return plan


def logged_curve(found: list[Trained], metric: str) -> Curve:
  """A metric over the steps of training, the mean of the runs."""
  logged = [one.metrics[metric] for one in found]
  return over_seeds(
    [Curve(*map(np.array, (steps, values, values, values))) for steps, values in logged]
  )


def _training_page(metric: str, y_label: str) -> PresentFn:
  """A metric that was logged while training, CRTR beside CRL."""

  def page(outcomes: dict[Key, Trained], lab: Lab) -> Page:
    del lab
    found = {method: seeds_of(outcomes, method) for method in CONTRASTIVE}
    drawn = {method: logged_curve(group, metric) for method, group in found.items()}
    final = {
      method: [one.metrics[metric][1][-1] for one in group] for method, group in found.items()
    }
    return Page(
      tables=[
        Table(
          f"{y_label} at the end",
          [plots.label(method) for method in CONTRASTIVE],
          [[mean_and_error(final[method], 3) for method in CONTRASTIVE]],
        )
      ],
      figures={
        metric: (plots.draw_curves(drawn, "training steps", y_label), f"{y_label} over training")
      },
      numbers={
        method: {"steps": curve.at.tolist(), "values": curve.values.tolist()}
        for method, curve in drawn.items()
      },
    )

  return page


def tsne_page(puzzle: str) -> PresentFn:
  """Representations of the first seed, CRTR beside CRL."""

  def page(outcomes: dict[Key, Trained], lab: Lab) -> Page:
    del outcomes
    projections = {}
    for method in CONTRASTIVE:
      model = lab.load(Run(puzzle, method))
      source = data.simulated_trajectories(model.puzzle, "test")
      trajectories = data.read_trajectories(source, _TSNE_TRAJECTORIES, _TSNE_SEED)
      projections[method] = tsne.tsne(model.embed, trajectories)
    return Page(
      figures={
        "tsne": (
          plots.draw_projections(projections),
          "Representations of held-out trajectories: above coloured by trajectory, below by "
          "progress. Where a trajectory is a clump, distance tells contexts apart and not time.",
        )
      },
      numbers={method: _clumping(found) for method, found in projections.items()},
    )

  return page


def _clumping(found: Any) -> dict[str, float]:
  """How much of the plane's variance lies between trajectories, and how much follows progress."""
  points = found.points - found.points.mean(axis=0)
  centres = np.stack([points[found.owners == one].mean(axis=0) for one in np.unique(found.owners)])
  between = float(np.mean(np.sum(centres[found.owners] ** 2, axis=1)))
  total = float(np.mean(np.sum(points**2, axis=1)))
  progress = np.stack([np.ones_like(found.progress), found.progress], axis=1)
  fitted = progress @ np.linalg.lstsq(progress, points, rcond=None)[0]
  explained = float(np.mean(np.sum(fitted**2, axis=1)))
  return {"between_trajectories": between / total, "explained_by_progress": explained / total}


def _information_plan(scale: Scale, num_seeds: int) -> Plan:
  del scale
  return {
    (puzzle, method, seed): Measure(Run(puzzle, method, seed))
    for puzzle in _CONTEXT_PUZZLES
    for method in CONTRASTIVE
    for seed in range(num_seeds)
  }


def _information_page(outcomes: dict[Key, dict[str, Any]], lab: Lab) -> Page:
  del lab
  page = Page()
  for puzzle in _CONTEXT_PUZZLES:
    means: dict[str, dict[int, float]] = {}
    for method in CONTRASTIVE:
      records = [
        one["conditional_mutual_information"] for one in seeds_of(outcomes, puzzle, method)
      ]
      means[method] = {int(k): float(np.mean([one[k] for one in records])) for k in records[0]}
    page.figures[puzzle] = (plots.draw_mutual_information(means), _TITLES[puzzle])
    page.numbers[puzzle] = {
      method: {str(k): value for k, value in by_k.items()} for method, by_k in means.items()
    }
    ks = list(means["crtr"])
    page.tables.append(
      Table(
        f"I(X; X+ | C) in nats, {_TITLES[puzzle]}",
        ["k", *map(str, ks)],
        [[plots.label(method), *(number(means[method][k]) for k in ks)] for method in CONTRASTIVE],
      )
    )
    higher = [str(k) for k in ks if means["crtr"][k] > means["crl"][k]]
    told = "every k" if len(higher) == len(ks) else f"k = {', '.join(higher)}" if higher else "no k"
    page.remarks.append(f"{_TITLES[puzzle]}: higher for CRTR at {told}.")
  return page


def _hamming_plan(scale: Scale, num_seeds: int) -> Plan:
  del scale, num_seeds
  return {}  # Nothing is learned.


def _hamming_page(outcomes: dict[Key, Any], lab: Lab) -> Page:
  """Does the number of differing stickers tell a pair of one trajectory from a stranger?"""
  del outcomes
  rows, numbers = [], {}
  # Only the part of a scramble that is far from the solved cube, which all trajectories share.
  for moves in (20, 40, 100):
    cube = puzzles.RubiksCube(trajectory_moves=moves)
    source = _Shuffled(data.simulated_trajectories(cube, "test"), keep=moves // 2)
    found = accuracy.pair_accuracy(
      accuracy.hamming_distance,
      source,
      repetition_factor=1,
      batch_size=2,
      num_batches=10 * lab.scale.num_trajectories,
    )
    numbers[str(moves)] = found.state_to_goal
    rows.append([str(moves), number(found.state_to_goal, 3)])
  return Page(
    tables=[Table("Own goal against one stranger's", ["scramble", "accuracy"], rows)],
    numbers=numbers,
    remarks=["Pairs are from the more shuffled half of each scramble; guessing gives 0.5."],
  )


class _Shuffled:
  """The first states of each trajectory: those that are farthest from the goal."""

  def __init__(self, source: TrajectorySource, keep: int):
    self._source, self._keep = source, keep
    self.state_shape, self.dtype = source.state_shape, source.dtype

  def batches(self, num_trajectories: int, seed: int, first_step: int = 0) -> tf.data.Dataset:
    def cut(batch: data.TrajectoryBatch) -> data.TrajectoryBatch:
      states, lengths = batch.states[:, : self._keep], tf.minimum(batch.lengths, self._keep)
      return data.TrajectoryBatch(states, lengths, batch.episodes)

    return self._source.batches(num_trajectories, seed, first_step).map(cut)


RESULTS = (
  *(
    Result(
      f"correlation_{puzzle}",
      f"{_TITLES[puzzle]}: rank correlation of distance and time over training",
      "CRTR's correlation is high, CRL's low throughout training.",
      _training_plan(puzzle),
      _training_page("held_out_spearman", "Spearman's rank correlation"),
    )
    for puzzle in _CONTEXT_PUZZLES
  ),
  *(
    Result(
      f"accuracy_{puzzle}",
      f"{_TITLES[puzzle]}: accuracy of the contrastive task over training",
      "CRL's accuracy is near 1 almost at once; CRTR's stays below: its negatives share context.",
      _training_plan(puzzle),
      _training_page("held_out_accuracy_backward", "Accuracy on held-out pairs"),
    )
    for puzzle in _CONTEXT_PUZZLES
  ),
  *(
    Result(
      f"tsne_{puzzle}",
      f"{_TITLES[puzzle]}: t-SNE of representations, CRTR beside CRL",
      "CRL's representations form a cluster for each trajectory, CRTR's follow time.",
      _training_plan(puzzle),
      tsne_page(puzzle),
    )
    for puzzle in _CONTEXT_PUZZLES
  ),
  Result(
    "conditional_mutual_information",
    "Information about the next state beyond the context",
    "I(X; X+ | C) is higher for CRTR than for CRL in Sokoban and Digit Jumper, for all k.",
    _information_plan,
    _information_page,
  ),
  Result(
    "hamming_context",
    "Hamming distance alone classifies shuffled cube pairs",
    "90% accuracy on the more shuffled portion of trajectories.",
    _hamming_plan,
    _hamming_page,
  ),
)
