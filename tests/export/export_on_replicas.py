"""Trains and exports a model on two replicas, and one with the same weights on none.

  python export_on_replicas.py FOLDER

Run as a program of its own: logical devices can only be made before TensorFlow starts.
"""

import pathlib
import sys

import keras
import tensorflow as tf

from crtr_tf import data, export
from crtr_tf.training import strategies
from tests.export import toy_models

_STEPS, _BATCH = 3, 32


def main(folder: pathlib.Path) -> None:
  cpu = tf.config.list_physical_devices("CPU")[0]
  tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
  strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
  method = toy_models.METHODS["crtr conv"]
  with strategy.scope():
    two = toy_models.make_model("crtr conv")
    two.compile(keras.optimizers.SGD(0.05))
  batches = method.batches(data.simulated_trajectories(toy_models.PUZZLE), _BATCH, 0, 0)
  batches = strategies.distribute(strategy, batches, _BATCH, method.rows_per_group)
  two.fit(batches, steps_per_epoch=_STEPS, shuffle=False, verbose=0)
  one = toy_models.make_model("crtr conv")
  assert len(two.encoder.variables[0].value.values) == 2, "the weights are not mirrored"
  for kept, trained in zip(one.encoder.variables, two.encoder.variables, strict=True):
    kept.assign(keras.ops.convert_to_numpy(trained))
  for name, model in {"one": one, "two": two}.items():
    export.save(
      model,
      toy_models.PUZZLE,
      folder / name,
      export.Training(method.name, steps=_STEPS),
      toy_models.SETTINGS,
      jit_compile=False,
    )


if __name__ == "__main__":
  main(pathlib.Path(sys.argv[1]))
