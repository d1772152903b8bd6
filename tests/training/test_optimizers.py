"""Learning rates, what a step of Muon is, and that a run with it can be resumed."""

import pathlib
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import data, training
from crtr_tf.puzzles import LightsOut
from crtr_tf.training import methods, optimizers

OPTIMIZERS = {"adam": optimizers.adam, "muon": optimizers.muon}
RATES = {
  "constant": ({}, [1.0, 1.0, 1.0]),
  "warm-up": ({"warmup_steps": 10}, [0.5, 1.0, 1.0]),
  "cosine": ({"decay": "cosine", "final_fraction": 0.0}, [np.cos(np.pi * 5 / 200) ** 2, 0.5, 0.0]),
}
RATE = 0.01


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", RATES)
def test_learning_rates(name: str, optimizer: str):
  options, expected = RATES[name]
  made = OPTIMIZERS[optimizer](100, learning_rate=1.0, **options)
  rates = []
  for step in (5, 50, 100):
    made.iterations.assign(step)
    rates.append(float(made.learning_rate))
  np.testing.assert_allclose(rates, expected, atol=1e-3)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_bad_optimizers_are_refused(optimizer: str):
  with pytest.raises(ValueError, match=r"decay must be one of .* got 'linear'"):
    OPTIMIZERS[optimizer](10, decay="linear")
  with pytest.raises(ValueError, match="less than num_steps; got 10, 10"):
    OPTIMIZERS[optimizer](10, warmup_steps=10)


def first_step(shape: tuple[int, ...]) -> np.ndarray:
  """What the first step of Muon adds to a variable whose gradient is random."""
  variable = keras.Variable(np.zeros(shape, np.float32), name="weights")
  gradient = np.random.default_rng(0).normal(size=shape).astype(np.float32)
  optimizers.muon(10, learning_rate=RATE).apply([tf.constant(gradient)], [variable])
  return variable.numpy()


@pytest.mark.parametrize("shape", [(24, 6), (6, 24), (3, 3, 5, 8)])
def test_a_step_of_muon_goes_equally_far_in_all_directions_of_a_kernel(shape: tuple[int, ...]):
  step = first_step(shape).reshape(-1, shape[-1])
  scale = 0.2 * RATE * np.sqrt(max(step.shape))  # so that an entry is as large as in Adam
  singular = np.linalg.svd(step, compute_uv=False) / scale
  assert singular.min() > 0.6 and singular.max() < 1.3


def test_muon_leaves_vectors_to_adam():
  np.testing.assert_allclose(np.abs(first_step((7,))), RATE, rtol=1e-4)


def test_a_resumed_run_with_muon_is_the_uninterrupted_one(tmp_path: pathlib.Path):
  puzzle = LightsOut(3, 3, trajectory_moves=6)

  def run(run_dir: pathlib.Path) -> keras.Model:
    method = methods.ContrastiveMethod(
      lambda spec: methods.conv_encoder(spec, width=4, depth=2, representation_dim=8)
    )
    return training.train(
      run_dir,
      method,
      data.simulated_trajectories(puzzle),
      num_steps=8,
      puzzle=puzzle,
      batch_size=16,
      checkpoint_every=4,
      optimizer=optimizers.muon,
      jit_compile=False,
    ).model

  whole = run(tmp_path / "whole")
  shutil.copytree(tmp_path / "whole", tmp_path / "half")
  last = list((tmp_path / "half" / "checkpoints").glob("step-8.*"))
  assert last
  for path in last:
    path.unlink()
  resumed = run(tmp_path / "half")
  for ours, theirs in zip(resumed.weights, whole.weights, strict=True):
    np.testing.assert_array_equal(ours, theirs)
