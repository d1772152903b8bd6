"""A model that was trained on two replicas is exported as one that was not."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export
from tests.export import toy_models

SCRIPT = pathlib.Path(__file__).with_name("export_on_replicas.py")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.slow
def test_mirrored_weights_are_exported_as_plain_ones(tmp_path: pathlib.Path):
  done = subprocess.run(
    [sys.executable, SCRIPT, tmp_path],
    env={**os.environ, "PYTHONPATH": str(ROOT)},
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr[-3000:]
  one, two = (export.load(tmp_path / name) for name in ("one", "two"))
  assert one.metadata == two.metadata
  untrained = toy_models.make_model("crtr conv")
  states = tf.constant(toy_models.boards())
  goals = toy_models.PUZZLE.goal(states)
  np.testing.assert_array_equal(two.embed(states), one.embed(states))
  np.testing.assert_array_equal(two.distance(states, goals), one.distance(states, goals))
  assert np.abs(two.embed(states) - untrained.embed(states)).max() > 1e-2
  loaded = [tf.saved_model.load(str(tmp_path / name)) for name in ("one", "two")]
  solved = [model.signatures["solve"](states=states) for model in loaded]
  for output in ("solved", "plan", "length", "nodes"):
    np.testing.assert_array_equal(solved[0][output], solved[1][output], err_msg=output)
