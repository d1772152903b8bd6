"""The training run: everything put together, stoppable and resumable at any step."""

import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf
from matplotlib import figure

from crtr_tf import data, models, puzzles
from crtr_tf.data.pipeline import TrajectorySource
from crtr_tf.evaluation import temporal
from crtr_tf.training import callbacks, optimizers, run_directory, strategies
from crtr_tf.training.callbacks import TrainingError
from crtr_tf.training.checkpoints import Checkpoints
from crtr_tf.training.methods import Method, StateSpec

__all__ = ["TrainingError", "TrainingResult", "train"]

Evaluator = Callable[[keras.Model], dict[str, float]]
_HELD_OUT_SEED = 0  # held-out trajectories are the same for all runs, so that runs compare


@dataclasses.dataclass(frozen=True)
class TrainingResult:
  """What a run ended with.

  Attributes:
    model: with the weights after `step` steps; the moving average of them, if one is kept.
    step: how many steps have been done.
    finished: False if a signal stopped the run before its end.
    method: that made the model.
    puzzle: that it is for, None for other trajectories.
  """

  model: models.HeuristicModel
  step: int
  finished: bool
  method: Method
  puzzle: puzzles.Puzzle | None


def train(
  run_dir: str | os.PathLike[str],
  method: Method,
  trajectories: TrajectorySource,
  num_steps: int,
  puzzle: puzzles.Puzzle | None = None,
  held_out: TrajectorySource | None = None,
  batch_size: int = 512,
  augment: bool = False,
  detour_share: float = 0.0,
  detour_moves: int = 20,
  seed: int = 0,
  optimizer: Callable[[int], keras.optimizers.Optimizer] = optimizers.adam,
  jit_compile: bool | None = None,
  steps_per_execution: int = 1,
  strategy: tf.distribute.Strategy | None = None,
  log_every: int = 100,
  checkpoint_every: int = 1000,
  keep_checkpoints: int = 3,
  evaluate_every: int = 1000,
  num_held_out: int = 100,
  evaluators: Sequence[Evaluator] = (),
  pictures: bool = True,
  best_metric: str | None = None,
  restore: str | None = None,
) -> TrainingResult:
  """Trains a model, or goes on with the run that was stopped in `run_dir`.

  Args:
    run_dir: folder of the run: checkpoints, logs, metrics.
    method: makes the model and its batches.
    trajectories: what to learn from.
    num_steps: length of the whole run.
    puzzle: whose states these are; None for other trajectories.
    held_out: trajectories that are not trained on, for evaluation.
    batch_size: over all replicas.
    augment: whether every trajectory is seen under a random symmetry of the puzzle.
    detour_share: share of the pairs that lie on random walks off their trajectory; for contrastive
      methods, see `data.with_detours`.
    detour_moves: most moves of such a walk.
    seed: of the weights and of all draws.
    optimizer: called with num_steps.
    jit_compile: whether XLA compiles the step; None for what is fastest for encoder and device.
    steps_per_execution: steps between two returns to Python.
    strategy: where to run, see `strategies.make_strategy`; None for one device.
    log_every, checkpoint_every, evaluate_every: intervals in steps.
    keep_checkpoints: how many of the latest checkpoints to keep.
    num_held_out: how many held-out trajectories evaluation takes.
    evaluators: called with the model at intervals; what they return is logged.
    pictures: whether evaluation also draws embeddings and distances, for TensorBoard.
    best_metric: keeps the checkpoint with the highest value of this evaluation result.
    restore: "latest" or "best" gives back the model of that checkpoint and trains no further.

  Raises:
    ValueError: if symmetries or detours are asked for and there is no puzzle to have them.
    TrainingError: if the loss became NaN or infinite.
  """
  for name, wanted in (("augment", augment), ("detour_share", detour_share)):
    if wanted and puzzle is None:
      raise ValueError(f"{name} needs a puzzle, whose symmetries or moves it draws from; got none.")
  run_dir = pathlib.Path(run_dir)
  last_step = num_steps if method.is_trained else 0
  strategy = strategy or tf.distribute.get_strategy()
  host = strategies.host_number(strategy)
  own_dir = run_dir / run_directory.OTHER_HOSTS / str(host) if host else run_dir
  own_dir.mkdir(parents=True, exist_ok=True)
  keras.utils.set_random_seed(seed)
  spec = StateSpec.of(trajectories, puzzle)
  with strategy.scope():
    model = method.make_model(spec, puzzle)
    model.build((None, spec.size))
    use_xla = _use_xla(model, strategy) if jit_compile is None else jit_compile
    model.compile(
      optimizer(num_steps), jit_compile=use_xla, steps_per_execution=steps_per_execution
    )
    model.optimizer.build(model.trainable_variables)
    checkpoints = Checkpoints(
      run_dir / run_directory.CHECKPOINTS,
      own_dir / run_directory.CHECKPOINTS,
      model,
      keep_checkpoints,
    )
  if restore is not None:
    step = checkpoints.restore(restore)
    return TrainingResult(_with_averages(model), step, step == last_step, method, puzzle)
  first_step = checkpoints.restore_latest()
  log = callbacks.MetricsLog(own_dir, first_step)
  tests, drawings = _held_out_evaluators(method, held_out, batch_size, num_held_out)
  evaluation = callbacks.Evaluate(
    [*tests, *evaluators], drawings if pictures else (), log, checkpoints, best_metric, first_step,
    last_step, evaluate_every,
  )  # fmt: skip
  if first_step >= last_step:
    if not last_step:
      evaluation.set_model(model)
      evaluation.at_step(0, {})
      checkpoints.save(0)
    return TrainingResult(_with_averages(model), first_step, True, method, puzzle)

  batches = method.batches(trajectories, batch_size, seed, first_step)
  if detour_share:
    batches = data.with_detours(batches, puzzle, detour_share, detour_moves, seed, first_step)
  if augment:
    batches = data.augmented(batches, puzzle, seed, first_step)
  stop = callbacks.StopOnSignal(checkpoints, first_step, last_step)
  try:
    model.fit(
      strategies.distribute(strategy, batches, batch_size, method.rows_per_group),
      steps_per_epoch=last_step - first_step,
      shuffle=False,  # the batches are in the order of their steps
      verbose=0,
      callbacks=[
        callbacks.StopOnNan(first_step, last_step),
        callbacks.Progress(first_step, last_step),
        callbacks.LogMetrics(log, first_step, last_step, log_every),
        evaluation,
        callbacks.SaveCheckpoints(checkpoints, first_step, last_step, checkpoint_every),
        stop,
      ],
    )
  finally:
    stop.restore_handlers()
  # Keras has put the averages in place of the weights at the end of `fit`.
  return TrainingResult(model, stop.step, stop.step == last_step, method, puzzle)


def _use_xla(model: models.HeuristicModel, strategy: tf.distribute.Strategy) -> bool:
  return models.prefers_xla(
    model.encoder, strategy.num_replicas_in_sync, strategies.device_type(strategy)
  )


def _with_averages(model: models.HeuristicModel) -> models.HeuristicModel:
  model.optimizer.finalize_variable_values(model.trainable_variables)
  return model


def _held_out_evaluators(
  method: Method, held_out: TrajectorySource | None, batch_size: int, num_held_out: int
) -> tuple[list[Evaluator], list[Callable[[keras.Model], dict[str, figure.Figure]]]]:
  """Rank correlation, and the loss with its statistics, on trajectories that were not seen."""
  if held_out is None:
    return [], []
  sample = data.read_trajectories(held_out, num_held_out, _HELD_OUT_SEED)
  compiled: dict[str, Callable[..., tf.Tensor]] = {}

  def function(model: keras.Model, name: str) -> Callable[..., tf.Tensor]:
    return compiled.setdefault(name, tf.function(getattr(model, name)))

  def correlation(model: keras.Model) -> dict[str, float]:
    correlations = temporal.rank_correlations(function(model, "distance"), sample)
    return {"held_out_spearman": float(correlations.mean())}

  @functools.cache
  def batch() -> dict[str, tf.Tensor]:
    size = min(batch_size, num_held_out * method.rows_per_group)
    size -= size % method.rows_per_group
    return next(iter(method.batches(held_out, size, _HELD_OUT_SEED, first_step=0)))

  def statistics(model: keras.Model) -> dict[str, float]:
    loss, parts = function(model, "batch_loss")(batch(), training=False)
    named = {"loss": loss, **{name: part.mean for name, part in parts.items()}}
    return {f"held_out_{name}": float(value) for name, value in named.items()}

  def pictures(model: keras.Model) -> dict[str, figure.Figure]:
    drawn = {"distances": temporal.draw_distances(function(model, "distance"), sample)}
    if isinstance(model, models.EmbeddingHeuristic):
      drawn["embeddings"] = temporal.draw_embeddings(function(model, "embed"), sample)
    return drawn

  return [correlation, statistics], [pictures]
