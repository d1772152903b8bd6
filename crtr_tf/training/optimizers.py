"""Optimizers with the learning rates of the paper and of our own recipes."""

import math

import keras
import tensorflow as tf

Rate = float | keras.optimizers.schedules.LearningRateSchedule


def adam(
  num_steps: int,
  learning_rate: float = 3e-4,
  warmup_steps: int = 0,
  decay: str = "constant",
  final_fraction: float = 0.01,
  ema_momentum: float | None = None,
  clip_norm: float | None = None,
) -> keras.optimizers.Optimizer:
  """Adam as PyTorch has it (epsilon 1e-8).

  Args:
    num_steps: length of the whole run, which a decay is stretched over.
    learning_rate: after the warm-up.
    warmup_steps: the rate grows linearly from 0 over these.
    decay: "constant" (the paper) or "cosine", down to final_fraction of the rate.
    final_fraction: see `decay`.
    ema_momentum: keeps an exponential moving average of the weights for evaluation and export.
    clip_norm: gradients of a larger global norm are scaled down to it.
  """
  return keras.optimizers.Adam(
    _rate(num_steps, learning_rate, warmup_steps, decay, final_fraction),
    epsilon=1e-8,
    global_clipnorm=clip_norm,
    use_ema=ema_momentum is not None,
    ema_momentum=ema_momentum or 0.99,
  )


def muon(
  num_steps: int,
  learning_rate: float = 3e-3,
  warmup_steps: int = 0,
  decay: str = "constant",
  final_fraction: float = 0.01,
  ema_momentum: float | None = None,
  newton_schulz_steps: int = 5,
) -> keras.optimizers.Optimizer:
  """Muon for the kernels of dense and convolutional layers, Adam for all other weights.

  A step in a matrix has all its singular values near one: rare directions move as far as common
  ones. On the cube 2,000 steps of it did as well as 6,000 of Adam, and 20,000 as 30,000 (one run
  each). Steps are scaled so that rates of Adam suit it.

  Args:
    num_steps, learning_rate, warmup_steps, decay, final_fraction, ema_momentum: as for `adam`.
    newton_schulz_steps: matrix products that bring singular values near one; they cost the same
      for any batch.
  """
  return KernelMuon(
    _rate(num_steps, learning_rate, warmup_steps, decay, final_fraction),
    epsilon=1e-8,
    weight_decay=None,
    adam_weight_decay=None,
    ns_steps=newton_schulz_steps,
    use_ema=ema_momentum is not None,
    ema_momentum=ema_momentum or 0.99,
  )


class KernelMuon(keras.optimizers.Muon):
  """Keras' Muon, which leaves all but matrices to Adam, for kernels of convolutions as well.

  A kernel [height, width, C in, C out] is to it the matrix of what enters a place, by C out.
  """

  def _should_use_adamw(self, variable: keras.Variable) -> bool:
    return len(variable.shape) != 4 and super()._should_use_adamw(variable)

  def zeropower_via_newtonschulz5(self, x: tf.Tensor, steps: int) -> tf.Tensor:
    matrix = tf.reshape(x, [-1, x.shape[-1]])
    return tf.reshape(super().zeropower_via_newtonschulz5(matrix, steps), x.shape)

  def lr_adjust(self, x: tf.Tensor) -> tf.Tensor:
    return self.rms_rate * math.sqrt(max(math.prod(x.shape[:-1]), x.shape[-1])) * x


def _rate(
  num_steps: int, learning_rate: float, warmup_steps: int, decay: str, final_fraction: float
) -> Rate:
  """See `adam`."""
  rates = ("constant", "cosine")
  if decay not in rates:
    raise ValueError(f"decay must be one of {rates}; got {decay!r}.")
  if not 0 <= warmup_steps < num_steps:
    raise ValueError(
      f"warmup_steps must be at least 0 and less than num_steps; got {warmup_steps}, {num_steps}."
    )
  if decay == "constant" and not warmup_steps:
    return learning_rate
  return keras.optimizers.schedules.CosineDecay(
    0.0 if warmup_steps else learning_rate,
    decay_steps=num_steps - warmup_steps,
    # A cosine down to the rate itself is constant.
    alpha=final_fraction if decay == "cosine" else 1.0,
    warmup_target=learning_rate if warmup_steps else None,
    warmup_steps=warmup_steps,
  )
