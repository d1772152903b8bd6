"""The supervised baseline: bins, their value, both kinds of encoders."""

import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import models
from tests.models.toy_batches import random_batch

ENCODERS = {
  "dense": lambda: models.ResidualDenseEncoder(4, 32, 2),
  "conv": lambda: models.ResidualConvEncoder((2, 3), 4, 16, 2),
}


def differing_cells(rows: int, seed: int) -> dict[str, np.ndarray]:
  """Pairs whose distance is the number of cells in which they differ: 0 to 6."""
  batch = random_batch(rows, seed=seed)
  rng = np.random.default_rng(seed)
  changed = rng.random((rows, 6)) < rng.random((rows, 1))
  goals = np.where(changed, (batch["states"] + 1) % 4, batch["states"]).astype(np.uint8)
  return {
    "states": batch["states"],
    "goals": goals,
    "distances": changed.sum(1).astype(np.int32),
  }


@pytest.mark.parametrize("name", ENCODERS)
def test_it_learns_a_distance(name: str):
  keras.utils.set_random_seed(0)
  model = models.SupervisedModel(ENCODERS[name](), num_bins=7)
  model.compile(keras.optimizers.Adam(3e-3), jit_compile=False)
  batches = [differing_cells(256, seed) for seed in range(120)]
  data = tf.data.Dataset.from_tensor_slices(
    {key: np.stack([batch[key] for batch in batches]) for key in batches[0]}
  )
  history = model.fit(data, verbose=0).history
  assert set(history) == {"loss", "accuracy", "absolute_error", "gradient_norm"}
  test = differing_cells(200, seed=1000)
  predicted = np.asarray(model.distance(test["states"], test["goals"]))
  assert np.corrcoef(predicted, test["distances"])[0, 1] > 0.9
  results = model.evaluate(tf.data.Dataset.from_tensors(test), verbose=0, return_dict=True)
  assert results["absolute_error"] == pytest.approx(
    np.abs(predicted - test["distances"]).mean(), rel=1e-3
  )


def test_the_value_of_a_distribution():
  logits = np.log([[0.1, 0.2, 0.3, 0.4], [1.0, 1e-9, 1e-9, 1e-9]]).astype(np.float32)
  encoder = ENCODERS["dense"]()
  expected = models.SupervisedModel(encoder, num_bins=4).bin_value(logits)
  np.testing.assert_allclose(expected, [0.2 + 0.6 + 1.2, 0.0], atol=1e-5)
  likeliest = models.SupervisedModel(encoder, num_bins=4, value="argmax").bin_value(logits)
  np.testing.assert_array_equal(likeliest, [3.0, 0.0])
  assert likeliest.dtype == tf.float32


def test_distances_beyond_the_last_bin_fall_in_it():
  model = models.SupervisedModel(ENCODERS["dense"](), num_bins=3)
  batch = {key: tf.constant(x) for key, x in differing_cells(8, seed=0).items()}
  losses = [
    model.batch_loss({**batch, "distances": tf.fill([8], distance)}, training=False)[0]
    for distance in (2, 50)
  ]
  assert float(losses[0]) == float(losses[1])


@pytest.mark.parametrize("name", ENCODERS)
def test_it_can_be_saved_and_loaded(name: str, tmp_path: pathlib.Path):
  model = models.SupervisedModel(ENCODERS[name](), num_bins=5, value="argmax")
  model.build((None, 6))
  model.save(tmp_path / "model.keras")
  loaded = keras.saving.load_model(tmp_path / "model.keras")
  pairs = differing_cells(8, seed=0)
  np.testing.assert_array_equal(loaded(pairs), model(pairs))
  assert loaded.value == "argmax"


def test_impossible_options_are_refused():
  with pytest.raises(ValueError, match=r"num_bins must be at least 2; got 1\."):
    models.SupervisedModel(ENCODERS["dense"](), num_bins=1)
  with pytest.raises(ValueError, match="value must be one of expected, argmax; got 'median'"):
    models.SupervisedModel(ENCODERS["dense"](), num_bins=5, value="median")
