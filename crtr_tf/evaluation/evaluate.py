"""Everything that is measured of one model, as one JSON-able record and the plots to it."""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from matplotlib import figure

from crtr_tf import data, export, puzzles, search
from crtr_tf.data.sampling import TrajectoryBatch
from crtr_tf.evaluation import (
  accuracy,
  bulk,
  curves,
  lengths,
  mutual_information,
  plots,
  temporal,
  tsne,
)

_CHUNK = 1024  # instances that are generated at a time
_TSNE_TRAJECTORIES = 20
_NEIGHBOURS = (3, 5, 10, 20)  # that conditional mutual information is estimated with


@dataclasses.dataclass(frozen=True)
class Solved:
  """What a search made of a set of instances.

  Attributes:
    solved: [P] bool.
    lengths: [P] int, moves of the plans, 0 where not solved.
    nodes: [P] int.
    seconds: that the search took.
    fingerprint: hash of the instances; results compare if it is the same.
    optimal: [P] int, lengths of shortest plans, where they are known.
  """

  solved: np.ndarray
  lengths: np.ndarray
  nodes: np.ndarray
  seconds: float
  fingerprint: str
  optimal: np.ndarray | None = None

  @classmethod
  def of(
    cls,
    pieces: Iterable[bulk.Piece],
    puzzle: puzzles.Puzzle,
    optimal: np.ndarray | None = None,
  ) -> "Solved":
    """Puts together what `bulk.solve_pieces` gives; plans are dropped as they come.

    Args:
      pieces: at least one.
      puzzle: whose oracle, if it has one, is asked for optimal lengths.
      optimal: [P] optimal lengths, in place of the oracle.
    """
    rows, best, seconds, digest = [], [], 0.0, hashlib.sha256()
    for piece in pieces:
      digest.update(np.ascontiguousarray(piece.states).tobytes())
      result = piece.result
      rows.append(np.stack([result.solved, result.lengths, result.nodes]))
      seconds += piece.seconds
      best.append(lengths.optimal_lengths(puzzle, piece.states) if optimal is None else None)
    if not rows:
      raise ValueError("there are no instances to evaluate on.")
    solved, plan_lengths, nodes = np.concatenate(rows, axis=1)
    if optimal is None and best[0] is not None:
      optimal = np.concatenate(best)
    return cls(solved.astype(bool), plan_lengths, nodes, seconds, digest.hexdigest()[:16], optimal)

  def record(self, budgets: list[int] | None = None) -> dict[str, Any]:
    """The numbers of it, JSON-able; the success curve at the given budgets, or at usual ones."""
    budgets = budgets or curves.default_budgets(max(int(self.nodes.max()), 1))
    curve = curves.success_curve(self.solved, self.nodes, budgets)
    low, high = curves.wilson_interval(int(self.solved.sum()), len(self.solved))
    counts, edges = lengths.length_histogram(self.lengths, self.solved)
    record = {
      "instances": len(self.solved),
      "instances_fingerprint": self.fingerprint,
      "solved": int(self.solved.sum()),
      "success_rate": float(self.solved.mean()),
      "success_interval": [float(low), float(high)],
      "success_curve": {
        "budgets": list(budgets),
        **{name: [float(x) for x in getattr(curve, name)] for name in ("values", "low", "high")},
      },
      "lengths": lengths.summarize_lengths(self.lengths, self.solved)._asdict(),
      "length_histogram": {"counts": counts.tolist(), "edges": edges.tolist()},
      "nodes": {
        "mean": float(self.nodes.mean()),
        "median": float(np.median(self.nodes)),
        "total": int(self.nodes.sum()),
      },
      "seconds": round(self.seconds, 3),
      "nodes_per_second": float(self.nodes.sum() / max(self.seconds, 1e-9)),
    }
    if self.optimal is not None:
      gap = lengths.optimality_gap(self.lengths, self.optimal, self.solved)
      record["optimality_gap"] = gap._asdict()
    return record

  def figures(self, name: str) -> dict[str, figure.Figure]:
    """Pictures of success by budget and of plan lengths; `name` goes into the legend."""
    budgets = curves.default_budgets(max(int(self.nodes.max()), 1))
    return {
      "success": plots.draw_success({name: curves.success_curve(self.solved, self.nodes, budgets)}),
      "solved_by_length": plots.draw_solved_by_length(
        {name: curves.length_curve(self.solved, self.lengths)}
      ),
    }


def generated_instances(
  puzzle: puzzles.Puzzle, num_instances: int, seed: int
) -> Iterator[np.ndarray]:
  """Evaluation instances [S], made as they are needed."""
  for first in range(0, num_instances, _CHUNK):
    episodes = tf.range(first, min(first + _CHUNK, num_instances), dtype=tf.int64)
    yield from puzzle.instances(seed, episodes).numpy()


def represent(
  heuristic: Any, source: data.pipeline.TrajectorySource, num_trajectories: int = 100, seed: int = 0
) -> tuple[dict[str, Any], TrajectoryBatch]:
  """How well distances tell time, on trajectories that should not have been trained on.

  Args:
    heuristic: a model with `distance`, and maybe `embed`.
    source: of the trajectories.
    num_trajectories: how many.
    seed: of the choice.

  Returns:
    the numbers, JSON-able.
    the trajectories.
  """
  distance = tf.function(heuristic.distance)
  trajectories = data.read_trajectories(source, num_trajectories, seed)
  correlations = temporal.rank_correlations(distance, trajectories)
  record: dict[str, Any] = {
    "trajectories": num_trajectories,
    "seed": seed,
    "spearman": float(correlations.mean()),
    "spearman_deviation": float(correlations.std(ddof=1)) if num_trajectories > 1 else 0.0,
    "accuracy": {
      str(factor): found._asdict()
      for factor, found in accuracy.pair_accuracies(
        heuristic, source, batch_size=_pair_batch_size(num_trajectories), seed=seed
      ).items()
    },
    "distance_by_steps_left": _profile_record(temporal.distance_profile(distance, trajectories)),
  }
  if search.has_embeddings(heuristic):
    transitions = int(np.sum(trajectories.lengths)) - num_trajectories
    estimates = mutual_information.representation_cmi(
      heuristic.embed, trajectories, [k for k in _NEIGHBOURS if k < transitions]
    )
    record["conditional_mutual_information"] = {str(k): v for k, v in estimates.items()}
  return record, trajectories


def _pair_batch_size(num_trajectories: int) -> int:
  """Even, as there may be two pairs of a trajectory."""
  return max(2, min(256, num_trajectories) // 2 * 2)


def _profile_record(profile: temporal.DistanceProfile) -> dict[str, list[float]]:
  curve = profile.raw
  return {name: [float(x) for x in getattr(curve, name)] for name in ("values", "low", "high")}


def representation_figures(
  heuristic: Any, trajectories: TrajectoryBatch, name: str
) -> dict[str, figure.Figure]:
  """Pictures of distance against time and, where there are representations, of their t-SNE."""
  profile = temporal.distance_profile(tf.function(heuristic.distance), trajectories)
  drawn = {"distances": temporal.draw_profiles({name: profile}, normalised=False)}
  if search.has_embeddings(heuristic):
    few = TrajectoryBatch(*(part[:_TSNE_TRAJECTORIES] for part in trajectories))
    drawn["tsne"] = plots.draw_projection(tsne.tsne(heuristic.embed, few))
  return drawn


class Evaluation(NamedTuple):
  """All numbers of a model, JSON-able, and the pictures by name."""

  record: dict[str, Any]
  figures: dict[str, figure.Figure]


def evaluate(
  job: bulk.Job,
  pieces: Iterable[bulk.Piece],
  num_trajectories: int = 100,
  seed: int = 0,
  optimal: np.ndarray | None = None,
  draw: bool = True,
) -> Evaluation:
  """Measures an exported model.

  Args:
    job: which model, which search.
    pieces: what the search made of the instances, see `bulk.solve_pieces`.
    num_trajectories: held-out trajectories, made by the puzzle's generator.
    seed: of these; and of the instances, which is only noted.
    optimal: [P] lengths of shortest plans, where the puzzle has no oracle.
    draw: whether figures are wanted.
  """
  model = export.load(job.model)
  solver = dataclasses.replace(model.metadata.solver, **dict(job.settings))
  solved = Solved.of(pieces, model.puzzle, optimal)
  source = data.simulated_trajectories(model.puzzle, "test")
  times, trajectories = represent(model, source, num_trajectories, seed)
  method = model.metadata.training.method
  searches = solver.solver in ("bestfs", "astar")
  record = {
    "model": {
      "name": job.model,
      "weights": model.metadata.weights,
      "method": method,
      "steps": model.metadata.training.steps,
    },
    "puzzle": model.metadata.puzzle,
    "solver": dataclasses.asdict(solver),
    "seed": seed,
    "search": solved.record(curves.default_budgets(solver.budget) if searches else None),
    "representation": times,
  }
  figures = {}
  if draw:
    figures = {
      **solved.figures(method),
      **representation_figures(model, trajectories, method),
    }
  return Evaluation(record, figures)
