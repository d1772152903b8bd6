"""Encoders: the architecture layer by layer, precision, saving."""

import itertools
import pathlib
from collections.abc import Callable

import keras
import numpy as np
import pytest

from crtr_tf import models
from crtr_tf.models import encoders


def cells(rows: int, size: int, num_values: int, seed: int = 0) -> np.ndarray:
  return np.random.default_rng(seed).integers(0, num_values, (rows, size), dtype=np.uint8)


def shake(encoder: models.Encoder, seed: int = 0) -> None:
  """Gives every weight random values, also those that start as zeros and ones."""
  rng = np.random.default_rng(seed)
  for weight in encoder.weights:
    low = 0.1 if weight.name == "moving_variance" else -1.0
    weight.assign(rng.uniform(low, 1.0, weight.shape))


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
  mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
  return gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta


def weights_in_order(encoder: models.Encoder) -> Callable[[int], list[np.ndarray]]:
  """A function that hands out the next so many weights."""
  weights = iter([np.asarray(weight, np.float64) for weight in encoder.weights])
  return lambda count: list(itertools.islice(weights, count))


@pytest.mark.parametrize("first_width", [None, 9])
@pytest.mark.parametrize("num_values", [4, None])
def test_dense_encoder_computes_what_its_description_says(
  first_width: int | None, num_values: int | None
):
  encoder = models.ResidualDenseEncoder(num_values, 6, 4, 3, first_width)
  if num_values is None:
    states = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    x = states
  else:
    states = cells(8, 5, num_values)
    x = np.eye(num_values)[states].reshape(8, -1)
  encoder.build(states.shape)
  shake(encoder)
  take = weights_in_order(encoder)
  head_kernel, head_bias = take(2)  # made first, in the base class

  def dense(x: np.ndarray) -> np.ndarray:
    kernel, bias, gamma, beta = take(4)
    return layer_norm(x @ kernel + bias, gamma, beta)

  for _ in range(1 if first_width is None else 2):
    x = np.maximum(dense(x), 0)
  for _ in range(2):
    x = x + dense(np.maximum(dense(x), 0))
  np.testing.assert_allclose(encoder(states), x @ head_kernel + head_bias, atol=1e-4)


def test_wide_first_layer_has_the_size_it_says():
  encoder = models.ResidualDenseEncoder(6, width=256, depth=2, first_width=1024)
  encoder.build((None, 54))
  assert encoder.count_params() == pytest.approx(0.75e6, rel=0.05)


def test_conv_encoder_does_not_care_where_on_a_large_board_something_is():
  encoder = models.ResidualConvEncoder((15, 15), 3, width=4, depth=2, representation_dim=5)
  here, there = np.zeros((2, 15, 15), np.uint8)
  here[7, 7], there[7, 8] = 2, 2  # as far from the border as three convolutions can see
  embedded = np.asarray(encoder(np.stack([here, there]).reshape(2, 225), training=False))
  np.testing.assert_allclose(embedded[0], embedded[1], atol=1e-5)
  assert not np.allclose(embedded[0], encoder(np.zeros((1, 225), np.uint8))[0], atol=1e-5)


@pytest.mark.parametrize(
  ("num_boards", "stride", "flatten"), [(1, 1, False), (2, 1, False), (1, 2, True), (2, 2, False)]
)
def test_conv_encoder_computes_what_its_description_says(
  num_boards: int, stride: int, flatten: bool
):
  encoder = models.ResidualConvEncoder(
    (3, 4), 5, 4, 4, 3, num_boards=num_boards, first_stride=stride, flatten=flatten
  )
  states = cells(6, num_boards * 12, 5)
  encoder.build(states.shape)
  shake(encoder)
  take = weights_in_order(encoder)
  head_kernel, head_bias = take(2)

  def conv(x: np.ndarray, stride: int = 1) -> np.ndarray:
    kernel, gamma, beta, mean, variance = take(5)
    # As many zeros as the last window needs, an odd one at the end.
    needed = [(-(-size // stride) - 1) * stride + 3 - size for size in x.shape[1:3]]
    padded = np.pad(x, [(0, 0), *((zeros // 2, -(-zeros // 2)) for zeros in needed), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    y = np.einsum("bhwcij,ijcd->bhwd", windows[:, ::stride, ::stride], kernel)
    return gamma * (y - mean) / np.sqrt(variance + 1e-5) + beta

  boards = np.eye(5)[states].reshape(6, num_boards, 3, 4, 5)
  x = np.maximum(conv(np.concatenate(list(boards.swapaxes(0, 1)), axis=-1), stride), 0)
  for _ in range(2):
    x = x + conv(np.maximum(conv(x), 0))
  pooled = x.reshape(6, -1) if flatten else x.mean((1, 2))
  expected = pooled @ head_kernel + head_bias
  np.testing.assert_allclose(encoder(states, training=False), expected, rtol=1e-4, atol=1e-3)


def test_batch_norm_remembers_nine_tenths():
  encoder = models.ResidualConvEncoder((3, 4), 5, width=4, depth=2)
  states = cells(64, 12, 5)
  encoder.build(states.shape)
  means = [weight for weight in encoder.weights if weight.name == "moving_mean"]
  encoder(states, training=True)
  first = np.asarray(means[0])
  encoder(states, training=True)
  np.testing.assert_allclose(means[0], 1.9 * first, rtol=1e-4)
  encoder(states, training=False)
  np.testing.assert_allclose(means[0], 1.9 * first, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_computes_in_16_bits_and_returns_32(dtype: str):
  for encoder in (
    models.ResidualDenseEncoder(4, 16, 2, 8, dtype=dtype),
    models.ResidualConvEncoder((2, 3), 4, 8, 2, 8, dtype=dtype),
  ):
    exact = type(encoder).from_config({**encoder.get_config(), "dtype": "float32"})
    states = cells(16, 6, 4)
    encoder.build(states.shape)
    exact.build(states.shape)
    exact.set_weights(encoder.get_weights())
    assert encoder(states).dtype == "float32"
    difference = np.abs(encoder(states) - exact(states)).max()
    assert 0 < difference < 0.1


ENCODERS = {
  "dense": lambda: models.ResidualDenseEncoder(4, 8, 2, 5),
  "wide first": lambda: models.ResidualDenseEncoder(4, 8, 2, 5, first_width=12),
  "continuous": lambda: models.ResidualDenseEncoder(None, 8, 2, 5),
  "conv": lambda: models.ResidualConvEncoder((2, 3), 4, 8, 2, 5, synchronized=False),
  "strided": lambda: models.ResidualConvEncoder((2, 3), 4, 8, 2, 5, first_stride=2, flatten=True),
  "mixed": lambda: models.ResidualDenseEncoder(4, 8, 2, 5, dtype="mixed_bfloat16"),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_saved_model_loads_without_any_code_objects(name: str, tmp_path: pathlib.Path):
  model = models.ContrastiveModel(ENCODERS[name](), metric="l1", temperature=3.0)
  states = cells(16, 6, 4)
  model.build(states.shape)
  shake(model.encoder)
  model.save(tmp_path / "model.keras")
  loaded = keras.saving.load_model(tmp_path / "model.keras", safe_mode=True)
  np.testing.assert_array_equal(loaded.embed(states), model.embed(states))
  assert loaded.encoder.get_config() == model.encoder.get_config()
  assert (loaded.metric, loaded.temperature) == ("l1", 3.0)


@pytest.mark.parametrize("name", ENCODERS)
def test_resized_keeps_the_architecture(name: str):
  encoder = ENCODERS[name]()
  other = encoder.resized(outputs=11, inputs=2)
  assert type(other) is type(encoder)
  assert other(cells(3, 12, 4)).shape == (3, 11)
  kept = encoder.get_config().keys() - {"representation_dim", "num_boards"}
  assert all(other.get_config()[key] == encoder.get_config()[key] for key in kept)


def test_xla_is_not_for_wide_convolutions_on_a_cpu_and_never_for_several_replicas():
  dense, conv = ENCODERS["dense"](), models.ResidualConvEncoder((3, 4), 5, width=64)
  assert encoders.prefers_xla(dense) and not encoders.prefers_xla(conv)
  assert encoders.prefers_xla(models.ResidualConvEncoder((3, 4), 5, width=32))
  assert encoders.prefers_xla(conv, device_type="GPU")
  assert not encoders.prefers_xla(dense, num_replicas=2)


def test_impossible_sizes_are_refused():
  with pytest.raises(ValueError, match=r"depth must be a positive even number.*; got 3\."):
    models.ResidualDenseEncoder(4, depth=3)
  with pytest.raises(ValueError, match=r"representation_dim must be at least 1; got 0\."):
    models.ResidualDenseEncoder(4, representation_dim=0)
  with pytest.raises(ValueError, match=r"1 boards of 3 x 4 cells; got 13 cells\."):
    models.ResidualConvEncoder((3, 4), 5).build((None, 13))
