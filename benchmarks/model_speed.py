"""The training step: against a plain one, with and without XLA, and the memory it takes."""

import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import keras
import tensorflow as tf

from benchmarks.measure import Measurement, wait
from crtr_tf import data, models, puzzles

Batch = dict[str, tf.Tensor]
Step = Callable[[Batch], object]

_TEMPERATURE = 8.0  # sqrt of the 64 numbers of a representation


def measurements() -> Iterator[Measurement]:
  yield from dense_step()
  yield from conv_step(width=32, depth=4, batch_size=512)
  yield from conv_step(width=64, depth=8, batch_size=128)
  yield from statistics_cost()
  yield from step_memory()


def dense_step(batch_size: int = 512) -> Iterator[Measurement]:
  """The paper's size (512 wide, 8 deep) on cubes with repetition factor 2."""
  steps = {
    "compiled": tf.function(dense_model().train_step, jit_compile=True),
    "graph": tf.function(dense_model().train_step),
    "plain": plain_step(dense_model()),
  }
  taken = typical(steps, cube_batch(batch_size), repeats=21)
  for name, seconds in taken.items():
    yield Measurement(f"dense step 512 x 8, batch {batch_size}: {name}", seconds, "seconds")
  gain = round(taken["plain"] / taken["compiled"], 2)
  yield Measurement("dense step: two passes and broadcast / ours", gain, "x", ">= 2")
  gain = round(taken["graph"] / taken["compiled"], 2)
  yield Measurement("dense step: graph / XLA", gain, "x")


def conv_step(width: int, depth: int, batch_size: int) -> Iterator[Measurement]:
  """A convolutional encoder on 12x12 boards of seven kinds of cells: is XLA worth it?"""
  cells = tf.random.stateless_uniform([2, batch_size, 144], [0, 0], 0, 7, tf.int32)
  states, goals = tf.unstack(tf.cast(cells, tf.uint8))
  batch = {"states": states, "goals": goals, "groups": tf.range(batch_size, dtype=tf.int64) // 2}
  encoder = models.ResidualConvEncoder((12, 12), 7, width, depth)
  steps = {
    "compiled": tf.function(built(encoder.resized(64), 144).train_step, jit_compile=True),
    "graph": tf.function(built(encoder.resized(64), 144).train_step),
  }
  taken = typical(steps, batch, repeats=5)
  gain = round(taken["graph"] / taken["compiled"], 2)
  yield Measurement(f"conv step {width} x {depth}, batch {batch_size}: graph / XLA", gain, "x")


def statistics_cost(batch_size: int = 512) -> Iterator[Measurement]:
  """What tracking statistics at every step costs a network as small as they come."""
  model, bare_model, graph_model = (dense_model(256, 2) for _ in range(3))

  def bare(batch: Batch) -> None:
    with tf.GradientTape() as tape:
      loss, _ = bare_model.batch_loss(batch, training=True)  # XLA drops what nothing reads.
    update(bare_model, tape, loss)

  steps = {
    "with": tf.function(model.train_step, jit_compile=True),
    "without": tf.function(bare, jit_compile=True),
    "graph": tf.function(graph_model.train_step),
  }
  taken = typical(steps, cube_batch(batch_size), repeats=40)
  cost = round(taken["with"] / taken["without"], 3)
  yield Measurement("dense step 256 x 2: with statistics / without", cost, "of the time")
  gain = round(taken["graph"] / taken["with"], 2)
  yield Measurement("dense step 256 x 2: graph / XLA", gain, "x")


def step_memory(sizes: tuple[int, int, int] = (1024, 2048, 4096)) -> Iterator[Measurement]:
  """Peak memory of a process that trains; twice the growth for twice the pairs is linear.

  The logits, of which there is one for each pair of pairs, are 64 MB of it for the largest batch.
  """
  for metric in ("dot", "l2"):
    small, medium, large = (_peak_megabytes(size, metric) for size in sizes)
    for size, peak in zip(sizes, (small, medium, large), strict=True):
      yield Measurement(f"dense step, {metric}: peak memory, batch {size}", round(peak), "MB")
    growth = round((large - medium) / (medium - small), 2)
    yield Measurement(f"dense step, {metric}: growth of memory", growth, "x for 2 x", "<= 3")


def train_and_print_peak(batch_size: int, metric: str) -> None:
  """Three compiled steps; prints the peak resident memory of this process in kB."""
  model = dense_model(metric=metric)
  step, batch = tf.function(model.train_step, jit_compile=True), cube_batch(batch_size)
  for _ in range(3):
    wait(step(batch))
  # Not ru_maxrss: Linux starts that of a child at its parent's.
  with open("/proc/self/status") as lines:
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def _peak_megabytes(batch_size: int, metric: str) -> float:
  call = f"model_speed.train_and_print_peak({batch_size}, {metric!r})"
  command = [sys.executable, "-c", f"from benchmarks import model_speed; {call}"]
  result = subprocess.run(command, capture_output=True, text=True, check=True)
  return float(result.stdout) / 1024


def plain_step(model: models.ContrastiveModel) -> Step:
  """The step as it is often written: two passes of the encoder, and all products broadcast."""

  @tf.function
  def step(batch: Batch) -> tf.Tensor:
    with tf.GradientTape() as tape:
      states = model.encoder(batch["states"], training=True)
      goals = model.encoder(batch["goals"], training=True)
      logits = tf.reduce_sum(states[:, None, :] * goals[None, :, :], axis=-1) / _TEMPERATURE
      labels = tf.range(tf.shape(logits)[0])
      loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
      )
    update(model, tape, loss)
    return loss

  return step


def update(model: keras.Model, tape: tf.GradientTape, loss: tf.Tensor) -> None:
  gradients = tape.gradient(loss, model.trainable_variables)
  model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


def dense_model(width: int = 512, depth: int = 8, metric: str = "dot") -> models.ContrastiveModel:
  encoder = models.ResidualDenseEncoder(6, width, depth)
  return built(encoder, puzzles.RubiksCube().state_size, metric)


def built(encoder: models.Encoder, state_size: int, metric: str = "dot") -> models.ContrastiveModel:
  """A model with all variables in place: a compiled function cannot make them."""
  model = models.ContrastiveModel(encoder, metric=metric)
  model.build((None, state_size))
  model.compile(keras.optimizers.Adam(3e-4))
  model.optimizer.build(model.trainable_variables)
  return model


def cube_batch(batch_size: int) -> Batch:
  source = data.simulated_trajectories(puzzles.RubiksCube())
  batches = data.contrastive_batches(source, batch_size, 2, discount=0.9, seed=0)
  return next(iter(batches))


def typical(steps: Mapping[str, Step], batch: Batch, repeats: int) -> dict[str, float]:
  """Median seconds of each step; they take turns, so that all see the same drift of the machine."""
  times = {name: [] for name in steps}
  for step in steps.values():
    wait(step(batch))
  for _, (name, step) in itertools.product(range(repeats), steps.items()):
    start = time.perf_counter()
    wait(step(batch))
    times[name].append(time.perf_counter() - start)
  return {name: round(statistics.median(all_times), 4) for name, all_times in times.items()}
