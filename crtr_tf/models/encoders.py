"""Encoders: flat states in, representations out. Both networks of the paper share one shape.

An input layer, then depth / 2 residual blocks of (linear, norm, ReLU, linear, norm) that are added
to the stream with no activation after the addition, then a linear layer to the representation.

Axes: B states, S cells, V values of a cell, H x W the board, C channels.
"""

from collections.abc import Sequence
from typing import Any, Self

import keras
import tensorflow as tf
from keras import layers, ops

_EPSILON = 1e-5
_MOMENTUM = 0.9
_WIDE_CONVOLUTION = 64  # channels from which TensorFlow's own convolutions beat XLA's on a CPU


class Encoder(layers.Layer):
  """What the models rely on: states [B, S] in, float32 [B, representation_dim] out.

  Under a mixed precision `dtype` the hidden layers compute in 16 bits; the last layer and what it
  returns stay in float32, so that losses and distances do.
  """

  def __init__(self, representation_dim: int, depth: int, **kwargs: Any):
    super().__init__(**kwargs)
    if depth < 2 or depth % 2:
      raise ValueError(f"depth must be a positive even number, two layers a block; got {depth}.")
    if representation_dim < 1:
      raise ValueError(f"representation_dim must be at least 1; got {representation_dim}.")
    self.representation_dim = representation_dim
    self.depth = depth
    self._head = layers.Dense(representation_dim, dtype="float32")

  @property
  def jit_on_cpu(self) -> bool:
    """Whether XLA makes the training step faster on a CPU; see `make bench`."""
    return True

  @property
  def _policy(self) -> dict[str, Any]:
    """For sublayers, which do not take their parent's policy by themselves."""
    return {"dtype": self.dtype_policy}

  def resized(self, outputs: int, inputs: int = 1) -> Self:
    """A new encoder of the same architecture, unbuilt.

    Args:
      outputs: its representation_dim.
      inputs: number of states that enter side by side, as [B, inputs * S].
    """
    del inputs  # Dense layers take any number of cells.
    return type(self).from_config({**self.get_config(), "representation_dim": outputs})

  def get_config(self) -> dict[str, Any]:
    own = {"representation_dim": self.representation_dim, "depth": self.depth}
    return {**super().get_config(), **own}

  def compute_output_shape(self, input_shape: Sequence[int | None]) -> tuple[int | None, int]:
    return (input_shape[0], self.representation_dim)


@keras.saving.register_keras_serializable(package="crtr_tf")
class ResidualDenseEncoder(Encoder):
  """Residual dense network with LayerNorm.

  Args:
    num_values: cells hold 0 .. num_values - 1 and enter as one-hot vectors; None for continuous
      states, which enter as they are.
    width: units of the hidden layers.
    depth: hidden layers in the residual blocks, two in each.
    representation_dim: size of the representation.
    first_width: if given, a wider layer of this size comes before the input layer. A small network
      that sees all pairs of cells at once: cheap, and strong on the cube.
    **kwargs: of `keras.layers.Layer`, such as dtype="mixed_bfloat16".

  >>> encoder = ResidualDenseEncoder(num_values=6)
  >>> encoder(cubes).shape  # cubes: [100, 54] uint8
  TensorShape([100, 64])
  """

  def __init__(
    self,
    num_values: int | None,
    width: int = 512,
    depth: int = 8,
    representation_dim: int = 64,
    first_width: int | None = None,
    **kwargs: Any,
  ):
    super().__init__(representation_dim, depth, **kwargs)
    self.num_values = num_values
    self.width = width
    self.first_width = first_width
    widths = [width] if first_width is None else [first_width, width]
    stem = [layer for one in widths for layer in (*self._dense(one), layers.ReLU(**self._policy))]
    self._stem = _Stack(stem, **self._policy)
    self._blocks = [
      _ResidualBlock(
        [*self._dense(width), layers.ReLU(**self._policy), *self._dense(width)], **self._policy
      )
      for _ in range(depth // 2)
    ]

  def _dense(self, width: int) -> tuple[layers.Layer, layers.Layer]:
    return (
      layers.Dense(width, **self._policy),
      layers.LayerNormalization(epsilon=_EPSILON, **self._policy),
    )

  def build(self, input_shape: Sequence[int | None]) -> None:
    batch, size = input_shape
    _build_in_order([self._stem, *self._blocks, self._head], (batch, size * (self.num_values or 1)))

  def call(self, states: tf.Tensor) -> tf.Tensor:
    """[B, S] -> [B, representation_dim] float32."""
    x = states
    if self.num_values is not None:
      # A matrix product with one-hot rows is faster on CPUs than gathering rows of the kernel, of
      # which the gradient is a scatter.
      x = ops.one_hot(x, self.num_values, dtype=self.compute_dtype)
      x = ops.reshape(x, (-1, states.shape[1] * self.num_values))
    for layer in (self._stem, *self._blocks):
      x = layer(x)
    return self._head(x)

  def get_config(self) -> dict[str, Any]:
    own = {
      "num_values": self.num_values,
      "width": self.width,
      "first_width": self.first_width,
    }
    return {**super().get_config(), **own}


@keras.saving.register_keras_serializable(package="crtr_tf")
class ResidualConvEncoder(Encoder):
  """Residual network of 3x3 convolutions with BatchNorm, usually averaged over the board.

  Args:
    board_shape: rows and columns; states are [B, rows * columns] cells, row by row.
    num_values: cells hold 0 .. num_values - 1 and enter as one-hot channels.
    width: channels of the hidden layers.
    depth: hidden layers in the residual blocks, two in each.
    representation_dim: size of the representation.
    synchronized: whether BatchNorm takes its statistics over the replicas of a strategy together.
    num_boards: boards that enter side by side, [B, num_boards * rows * columns], and become
      channels; 2 for networks that see a pair of states.
    first_stride: of the input layer; 2 leaves a quarter of the cells to the layers behind it.
    flatten: whether the last layer sees every place of the board in place of their average.
    **kwargs: of `keras.layers.Layer`, such as dtype="mixed_bfloat16".
  """

  def __init__(
    self,
    board_shape: Sequence[int],
    num_values: int,
    width: int = 64,
    depth: int = 8,
    representation_dim: int = 64,
    synchronized: bool = True,
    num_boards: int = 1,
    first_stride: int = 1,
    flatten: bool = False,
    **kwargs: Any,
  ):
    super().__init__(representation_dim, depth, **kwargs)
    self.board_shape = tuple(board_shape)
    self.num_values = num_values
    self.width = width
    self.synchronized = synchronized
    self.num_boards = num_boards
    self.first_stride = first_stride
    self.flatten = flatten
    self._stem = _Stack([*self._conv(first_stride), layers.ReLU(**self._policy)], **self._policy)
    self._blocks = [
      _ResidualBlock([*self._conv(), layers.ReLU(**self._policy), *self._conv()], **self._policy)
      for _ in range(depth // 2)
    ]
    pool = layers.Flatten if flatten else layers.GlobalAveragePooling2D
    self._pool = pool(**self._policy)

  @property
  def jit_on_cpu(self) -> bool:
    return self.width < _WIDE_CONVOLUTION

  def _conv(self, stride: int = 1) -> tuple[layers.Layer, layers.Layer]:
    return (
      # No bias: the norm behind it would take it away again.
      layers.Conv2D(self.width, 3, stride, padding="same", use_bias=False, **self._policy),
      layers.BatchNormalization(
        momentum=_MOMENTUM, epsilon=_EPSILON, synchronized=self.synchronized, **self._policy
      ),
    )

  def resized(self, outputs: int, inputs: int = 1) -> Self:
    config = {**self.get_config(), "representation_dim": outputs, "num_boards": inputs}
    return type(self).from_config(config)

  def build(self, input_shape: Sequence[int | None]) -> None:
    batch, size = input_shape
    height, width = self.board_shape
    if size != self.num_boards * height * width:
      raise ValueError(
        f"states must hold {self.num_boards} boards of {height} x {width} cells; got {size} cells."
      )
    _build_in_order(
      [self._stem, *self._blocks, self._pool, self._head],
      (batch, height, width, self.num_boards * self.num_values),
    )

  def call(self, states: tf.Tensor) -> tf.Tensor:
    """[B, num_boards * H * W] -> [B, representation_dim] float32."""
    boards = ops.reshape(states, (-1, self.num_boards, *self.board_shape))
    cells = ops.transpose(boards, (0, 2, 3, 1))  # [B, H, W, num_boards]
    x = ops.one_hot(cells, self.num_values, dtype=self.compute_dtype)
    x = ops.reshape(x, (-1, *self.board_shape, self.num_boards * self.num_values))
    for layer in (self._stem, *self._blocks, self._pool):
      x = layer(x)
    return self._head(x)

  def get_config(self) -> dict[str, Any]:
    own = {
      "board_shape": list(self.board_shape),
      "num_values": self.num_values,
      "width": self.width,
      "synchronized": self.synchronized,
      "num_boards": self.num_boards,
      "first_stride": self.first_stride,
      "flatten": self.flatten,
    }
    return {**super().get_config(), **own}


def prefers_xla(encoder: Encoder, num_replicas: int = 1, device_type: str = "CPU") -> bool:
  """Whether to compile the training step of a model around `encoder` with XLA.

  Args:
    encoder: on a CPU dense layers gain from XLA, wide convolutions do not.
    num_replicas: never with several, whose variables and collectives XLA cannot reach.
    device_type: "CPU", "GPU" or "TPU".
  """
  if num_replicas > 1:
    return False
  return encoder.jit_on_cpu if device_type == "CPU" else True


class _Stack(layers.Layer):
  """Layers one after the other. Unlike `keras.Sequential` it leaves the dtype of its input."""

  def __init__(self, stack: Sequence[layers.Layer], **kwargs: Any):
    super().__init__(**kwargs)
    self._stack = list(stack)

  def build(self, input_shape: Sequence[int | None]) -> None:
    _build_in_order(self._stack, input_shape)

  def compute_output_shape(self, input_shape: Sequence[int | None]) -> Sequence[int | None]:
    for layer in self._stack:
      input_shape = layer.compute_output_shape(input_shape)
    return input_shape

  def call(self, x: tf.Tensor) -> tf.Tensor:
    for layer in self._stack:
      x = layer(x)
    return x


class _ResidualBlock(_Stack):
  """A stack whose output is added to its input."""

  def call(self, x: tf.Tensor) -> tf.Tensor:
    return x + super().call(x)


def _build_in_order(stack: Sequence[layers.Layer], input_shape: Sequence[int | None]) -> None:
  for layer in stack:
    layer.build(input_shape)
    input_shape = layer.compute_output_shape(input_shape)
