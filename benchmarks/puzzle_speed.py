"""Generators and dynamics of the puzzles, against plain code and against the encoder's cost."""

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from benchmarks.measure import Measurement, seconds
from crtr_tf import puzzles
from crtr_tf.puzzles import parallel
from crtr_tf.puzzles.rubiks_cube import geometry


def measurements() -> Iterator[Measurement]:
  yield from cube_trajectories()
  yield from cube_children()
  yield from sokoban_levels()
  yield from import_time()


def cube_trajectories(batch: int = 4096, num_batches: int = 100) -> Iterator[Measurement]:
  """Scrambles of 21 states: the generator as tf.data runs it, and a loop over the moves."""
  cube = puzzles.RubiksCube()
  stream = iter(
    tf.data.Dataset.range(10**9).map(
      lambda i: cube.trajectories(0, tf.range(batch, dtype=tf.int64) + i * batch),
      num_parallel_calls=2 * len(os.sched_getaffinity(0)),  # both cores stay busy in between
    )
  )
  rng = np.random.default_rng(0)
  ours, plain = [], []
  for _ in range(3):  # in turns, since a machine's speed drifts
    for _ in range(10):
      next(stream)
    start = time.perf_counter()
    for _ in range(num_batches):
      next(stream)
    ours.append(num_batches * batch / (time.perf_counter() - start))
    plain.append(batch / seconds(lambda: numpy_scrambles(rng, batch)))
  ours, plain = statistics.median(ours), statistics.median(plain)
  yield Measurement("cube trajectories (21 states)", round(ours), "per second")
  yield Measurement("cube trajectories, NumPy loop over moves", round(plain), "per second")
  yield Measurement("cube trajectories: ours / NumPy loop", round(ours / plain, 2), "x", ">= 5")


def numpy_scrambles(rng: np.random.Generator, batch: int, moves: int = 20) -> np.ndarray:
  """The plain way: one gather per move over the batch. Returns [B, M + 1, 54]."""
  permutations = geometry.move_permutations()
  states = [np.tile(geometry.SOLVED, (batch, 1))]
  for _ in range(moves):
    sources = permutations[rng.integers(0, len(permutations), batch)]
    states.append(np.take_along_axis(states[-1], sources, axis=1))
  return np.stack(states[::-1], axis=1)


def cube_children(batch: int = 1024) -> Iterator[Measurement]:
  """All children of a batch and their hashes, beside the cost of encoding those children."""
  cube = puzzles.RubiksCube()
  states = cube.instances(0, tf.range(batch, dtype=tf.int64))

  @tf.function(jit_compile=True)
  def expand(states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    children, _ = cube.children(states)
    return children, cube.hash(children)

  encode = plain_encoder(width=512, depth=4)
  children = tf.reshape(expand(states)[0], [-1, cube.state_size])
  expanding = seconds(lambda: expand(states), repeats=15)
  encoding = seconds(lambda: encode(children), repeats=5)
  yield Measurement("cube children with hashes", round(len(children) / expanding), "per second")
  yield Measurement("encoder 512 x 4", round(len(children) / encoding), "states per second")
  share = round(expanding / encoding, 4)
  yield Measurement("cube children with hashes / encoding them", share, "of the time", "<= 0.05")


def plain_encoder(width: int, depth: int, size: int = 54, values: int = 6, out: int = 64):
  """One-hot, then `depth` hidden layers after the first: [N, S] uint8 -> [N, out]. No norms."""
  rng = np.random.default_rng(0)
  sizes = [size * values] + [width] * (depth + 1) + [out]
  weights = [
    tf.constant(rng.normal(0, a**-0.5, (a, b)), tf.float32) for a, b in itertools.pairwise(sizes)
  ]

  @tf.function(jit_compile=True)
  def encode(states: tf.Tensor) -> tf.Tensor:
    x = tf.reshape(tf.one_hot(states, values), [-1, size * values])
    for weight in weights[:-1]:
      x = tf.nn.relu(tf.matmul(x, weight))
    return tf.matmul(x, weights[-1])

  return encode


def sokoban_levels(count: int = 1000) -> Iterator[Measurement]:
  """12x12 levels of four boxes with their expert trajectories, one process per core."""
  puzzle = puzzles.Sokoban()
  puzzle.trajectories(1, np.arange(1))  # compiles, and leaves the result for the processes
  start = time.perf_counter()
  cores = len(os.sched_getaffinity(0))
  parallel.generate_trajectories(puzzle, 0, np.arange(count), num_processes=cores)
  rate = round(count / (time.perf_counter() - start), 1)  # with the start of the processes
  yield Measurement("Sokoban levels with trajectories", rate, "per second", ">= 10")


def import_time(repeats: int = 3) -> Iterator[Measurement]:
  """What importing the puzzles adds where TensorFlow is imported already."""
  code = (
    "import tensorflow, time; start = time.perf_counter(); import crtr_tf.puzzles; "
    "print(time.perf_counter() - start)"
  )
  times = []
  for _ in range(repeats):
    command = [sys.executable, "-c", code]
    times.append(float(subprocess.run(command, capture_output=True, check=True).stdout))
  added = round(statistics.median(times), 3)
  yield Measurement("import crtr_tf.puzzles beyond TensorFlow", added, "seconds", "<= 0.3")
