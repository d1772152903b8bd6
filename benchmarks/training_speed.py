"""`fit` on the real pipeline with callbacks, beside the bare compiled step."""

import csv
import functools
import pathlib
import statistics
import tempfile
from collections.abc import Iterator

from benchmarks.data_speed import train_step_seconds
from benchmarks.measure import Measurement
from crtr_tf import data, puzzles, training


def measurements(num_windows: int = 6, window: int = 10) -> Iterator[Measurement]:
  """The paper's dense model (512 x 8, batch 512) on the cube, with logs and checkpoints."""
  cube = puzzles.RubiksCube()
  source = data.simulated_trajectories(cube)
  batch = next(iter(data.contrastive_batches(source, 512, 2, 0.9, seed=0)))
  bare = [1 / train_step_seconds(batch)]
  with tempfile.TemporaryDirectory() as folder:
    training.train(
      folder,
      training.ContrastiveMethod(training.dense_encoder),
      source,
      num_steps=num_windows * window,
      puzzle=cube,
      held_out=data.simulated_trajectories(cube, "test"),
      optimizer=functools.partial(training.adam, learning_rate=3e-4),
      log_every=window,
      checkpoint_every=2 * window,
      evaluate_every=num_windows * window,  # at the end, outside the windows
    )
    with open(pathlib.Path(folder) / "metrics.csv") as file:
      rows = [row for row in csv.DictReader(file) if row["metric"] == "steps_per_second"]
  fit = statistics.median(float(row["value"]) for row in rows[1:])  # the first window compiles
  bare.append(1 / train_step_seconds(batch))
  rate = statistics.mean(bare)  # before and after, since a machine's speed drifts
  yield Measurement("bare training steps, 512 x 8, batch 512", round(rate, 2), "per second")
  yield Measurement("steps of fit with callbacks", round(fit, 2), "per second")
  yield Measurement("fit / bare step", round(fit / rate, 3), "x", ">= 0.93")
