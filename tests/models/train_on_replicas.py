"""Trains small models on one replica and on two, and writes what came out as JSON.

  python train_on_replicas.py OUT.json

Run as a program of its own: logical devices can only be made before TensorFlow starts.
"""

import json
import sys
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from crtr_tf import models
from crtr_tf.puzzles import LightsOut

STEPS, BATCH, SIZE, VALUES = 20, 16, 12, 3


def main(out: str) -> None:
  cpu = tf.config.list_physical_devices("CPU")[0]
  tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # start faster
  # One strategy for all cases: two of the same devices would share the keys of their collectives.
  strategies = {
    "one": tf.distribute.get_strategy(),
    "two": tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
  }
  results = {}
  for name, (make, batches) in cases().items():
    results[name] = {key: train(make, batches, one) for key, one in strategies.items()}
  with open(out, "w") as file:
    json.dump(results, file)


def cases() -> dict[str, tuple[Callable[[], models.HeuristicModel], dict[str, np.ndarray]]]:
  """Name -> how to make a model, and its batches [STEPS, BATCH, ...]."""

  def dense() -> models.Encoder:
    return models.ResidualDenseEncoder(VALUES, width=16, depth=2, representation_dim=8)

  def conv() -> models.Encoder:
    return models.ResidualConvEncoder((3, 4), VALUES, width=6, depth=2, representation_dim=8)

  def contrastive(encoder: Callable[[], models.Encoder], **options) -> Callable:
    return lambda: models.ContrastiveModel(encoder(), **options)

  def value_iteration() -> models.HeuristicModel:
    return models.ValueIterationModel(conv(), LightsOut(3, 4), update_threshold=2.0, check_every=5)

  pairs = batches_of_pairs()
  extra = {**pairs, "negatives": random_cells(VALUES, seed=1)}
  symmetric = {"loss_direction": "symmetric"}
  return {
    "dense backward": (contrastive(dense), pairs),
    "dense symmetric with normalised negatives": (
      contrastive(dense, **symmetric, normalize_negatives=True, metric="l2"),
      extra,
    ),
    "conv backward": (contrastive(conv, metric="l2_squared"), pairs),
    "conv symmetric": (contrastive(conv, **symmetric), pairs),
    "local negatives": (contrastive(dense, global_negatives=False), pairs),
    "value iteration": (value_iteration, {"states": random_cells(2, seed=2)}),
  }


def random_cells(num_values: int, seed: int) -> np.ndarray:
  rng = np.random.default_rng(seed)
  return rng.integers(0, num_values, (STEPS, BATCH, SIZE), dtype=np.uint8)


def batches_of_pairs() -> dict[str, np.ndarray]:
  """Goals that are their states but for a few cells, two from each group."""
  rng = np.random.default_rng(0)
  states = random_cells(VALUES, seed=3)
  keep = rng.random(states.shape) < 0.7
  groups = np.repeat(np.arange(STEPS * BATCH // 2), 2).reshape(STEPS, BATCH)
  return {
    "states": states,
    "goals": np.where(keep, states, random_cells(VALUES, seed=4)),
    "groups": groups.astype(np.int64),
  }


def train(
  make: Callable[[], models.HeuristicModel],
  batches: dict[str, np.ndarray],
  strategy: tf.distribute.Strategy,
) -> dict[str, object]:
  keras.utils.set_random_seed(0)
  with strategy.scope():
    model = make()
    model.build((None, SIZE))
    # Not Adam, which would hide a gradient that is wrong by a factor.
    model.compile(keras.optimizers.SGD(0.02, momentum=0.9))
  dataset = tf.data.Dataset.from_tensor_slices(batches)
  history = model.fit(dataset, verbose=0).history
  weights = [np.asarray(weight).ravel().tolist() for weight in model.weights]
  return {
    "weights": np.concatenate(weights).tolist(),
    "statistics": {name: values[-1] for name, values in history.items()},
  }


if __name__ == "__main__":
  main(sys.argv[1])
