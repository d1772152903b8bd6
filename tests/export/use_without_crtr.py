"""Uses SavedModels with nothing but TensorFlow.

  python use_without_crtr.py INPUTS.npz OUT.npz NAME=DIRECTORY ...

INPUTS has `states` and `goals` [B, S] uint8; OUT gets `NAME/SIGNATURE/OUTPUT` for all signatures
that take these.
"""

import sys

import numpy as np
import tensorflow as tf


def main(inputs_path: str, out: str, models: list[str]) -> None:
  inputs = {name: tf.constant(value) for name, value in np.load(inputs_path).items()}
  outputs = {}
  for model in models:
    name, directory = model.split("=", 1)
    loaded = tf.saved_model.load(directory)
    for key in {"solve", "distance", "embed"} & set(loaded.signatures):
      signature = loaded.signatures[key]
      arguments = signature.structured_input_signature[1]
      results = signature(**{argument: inputs[argument] for argument in arguments})
      outputs.update({f"{name}/{key}/{one}": value.numpy() for one, value in results.items()})
  assert not [name for name in sys.modules if name.startswith("crtr_tf")]
  np.savez(out, **outputs)


if __name__ == "__main__":
  main(sys.argv[1], sys.argv[2], sys.argv[3:])
