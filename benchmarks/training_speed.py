"""`fit` on the real pipeline with callbacks, beside the bare compiled step."""

import functools
import tempfile
import time
from collections.abc import Iterator

import keras
import tensorflow as tf

from benchmarks.measure import Measurement, wait
from benchmarks.model_speed import Batch, cube_batch, dense_model
from crtr_tf import data, puzzles, training


class BareStepsBetween:
  """Takes turns with `fit`: after every stretch of its steps, as many bare ones, both timed.

  A machine's speed drifts by more than what is to be measured; turns see the same drift.

  Args:
    batch: for the bare steps, always the same.
    stretch: number of steps.
  """

  def __init__(self, batch: Batch, stretch: int):
    self.fit_seconds: list[float] = []
    self.bare_seconds: list[float] = []
    self._batch = batch
    self._stretch = stretch
    self._step = tf.function(dense_model().train_step, jit_compile=True)
    self._left_at: float | None = None

  def __call__(self, model: keras.Model) -> dict[str, float]:
    """An evaluator of `train`."""
    start = time.perf_counter()
    if self._left_at is None:  # The first stretch compiles.
      wait(self._step(self._batch))
    else:
      self.fit_seconds.append(start - self._left_at)
      start = time.perf_counter()
      for _ in range(self._stretch):
        wait(self._step(self._batch))
      self.bare_seconds.append(time.perf_counter() - start)
    self._left_at = time.perf_counter()
    return {}


def measurements(num_stretches: int = 9, stretch: int = 20) -> Iterator[Measurement]:
  """The paper's dense model (512 x 8, batch 512) on the cube, with logs and checkpoints."""
  cube = puzzles.RubiksCube()
  turns = BareStepsBetween(cube_batch(512), stretch)
  with tempfile.TemporaryDirectory() as folder:
    training.train(
      folder,
      training.ContrastiveMethod(training.dense_encoder),
      data.simulated_trajectories(cube),
      num_steps=num_stretches * stretch,
      puzzle=cube,
      optimizer=functools.partial(training.adam, learning_rate=3e-4),
      log_every=stretch,
      checkpoint_every=4 * stretch,
      evaluate_every=stretch,
      evaluators=[turns],
    )
  steps = stretch * len(turns.fit_seconds)
  fit, bare = steps / sum(turns.fit_seconds), steps / sum(turns.bare_seconds)
  yield Measurement("bare training steps, 512 x 8, batch 512", round(bare, 2), "per second")
  yield Measurement("steps of fit with callbacks", round(fit, 2), "per second")
  yield Measurement("fit / bare step", round(fit / bare, 3), "x", ">= 0.93")
