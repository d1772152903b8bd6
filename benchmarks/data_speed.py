"""Building and reading datasets, beside the training step that they have to feed."""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import tensorflow as tf
import tensorflow_datasets as tfds

import crtr_tf.datasets
from benchmarks.measure import Measurement, seconds
from benchmarks.model_speed import dense_model
from crtr_tf import data, puzzles

BATCH_SIZE, REPETITION_FACTOR, DISCOUNT = 512, 2, 0.9


def measurements() -> Iterator[Measurement]:
  with tempfile.TemporaryDirectory() as folder:
    yield from build_speed(folder)
    yield from pipeline_speed(f"{folder}/rubiks_cube/small/1.0.0")
    yield from memory(folder)


def build_speed(folder: str) -> Iterator[Measurement]:
  """`rubiks_cube/small` from nothing to a finished directory."""
  builder = tfds.builder("rubiks_cube/small", data_dir=folder)
  start = time.perf_counter()
  builder.download_and_prepare()
  taken = time.perf_counter() - start
  count = sum(split.num_examples for split in builder.info.splits.values())
  size = sum(split.num_bytes for split in builder.info.splits.values())
  raw = builder.puzzle.max_trajectory_states * builder.puzzle.state_size
  yield Measurement("cube trajectories written", round(count / taken), "per second", ">= 20000")
  yield Measurement("cube trajectory on disk", round(size / count), "bytes")
  yield Measurement("cube trajectory, its states alone", raw, "bytes")


def pipeline_speed(directory: str) -> Iterator[Measurement]:
  """Whole pipelines at the paper's batch, and the step of the paper's dense model."""
  cube = puzzles.RubiksCube()
  sources = {
    "recorded": data.tfds_trajectories(cube, directory),
    "simulated": data.simulated_trajectories(cube),
  }
  step = train_step_seconds(next(iter(_batches(sources["simulated"]))))
  yield Measurement("training step, 512 x 8, batch 512", round(1 / step, 2), "per second")
  for name, source in sources.items():
    rate = _batches_per_second(source)
    yield Measurement(f"{name} cube batches", round(rate, 1), "per second")
    yield Measurement(f"{name} cube batches / training steps", round(rate * step, 1), "x", ">= 20")


def train_step_seconds(batch: dict[str, tf.Tensor]) -> float:
  """One compiled step of the paper's dense model on a constant batch."""
  step = tf.function(dense_model().train_step, jit_compile=True)
  return seconds(lambda: step(batch))


def memory(folder: str, few: int = 20_000) -> Iterator[Measurement]:
  """Peak memory of a process that reads a small dataset, and of one that reads a large one."""
  config = crtr_tf.datasets.PuzzleConfig(name="few", num_train=few, num_test=100)
  tfds.builder("rubiks_cube", config=config, data_dir=folder).download_and_prepare()
  small = _peak_megabytes(f"{folder}/rubiks_cube/few/1.0.0")
  large = _peak_megabytes(f"{folder}/rubiks_cube/small/1.0.0")
  yield Measurement(f"memory to read {few} trajectories", small, "MB")
  yield Measurement("memory to read 100000 trajectories", large, "MB")
  yield Measurement("memory, large / small dataset", round(large / small, 3), "x", "<= 1.1")


def _batches(source: data.pipeline.TrajectorySource) -> tf.data.Dataset:
  return data.contrastive_batches(source, BATCH_SIZE, REPETITION_FACTOR, DISCOUNT, seed=0)


def _batches_per_second(source: data.pipeline.TrajectorySource, count: int = 300) -> float:
  batches = iter(_batches(source))
  for _ in range(20):
    next(batches)
  start = time.perf_counter()
  for _ in itertools.islice(batches, count):
    pass
  return count / (time.perf_counter() - start)


def _peak_megabytes(directory: str) -> int:
  code = f"""
import resource
from crtr_tf import data, puzzles
source = data.tfds_trajectories(puzzles.RubiksCube(), {directory!r}, shuffle_window=4096)
for batch in data.contrastive_batches(source, 512, 2, 0.9, seed=0).take(390):
  pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
  result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
  return int(result.stdout)
