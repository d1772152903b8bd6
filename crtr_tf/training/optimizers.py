"""Adam with the learning rates of the paper and of our own recipes."""

import keras


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
  rates = ("constant", "cosine")
  if decay not in rates:
    raise ValueError(f"decay must be one of {rates}; got {decay!r}.")
  if not 0 <= warmup_steps < num_steps:
    raise ValueError(
      f"warmup_steps must be at least 0 and less than num_steps; got {warmup_steps}, {num_steps}."
    )
  rate: float | keras.optimizers.schedules.LearningRateSchedule = learning_rate
  if decay == "cosine" or warmup_steps:
    rate = keras.optimizers.schedules.CosineDecay(
      0.0 if warmup_steps else learning_rate,
      decay_steps=num_steps - warmup_steps,
      # A cosine down to the rate itself is constant.
      alpha=final_fraction if decay == "cosine" else 1.0,
      warmup_target=learning_rate if warmup_steps else None,
      warmup_steps=warmup_steps,
    )
  return keras.optimizers.Adam(
    rate,
    epsilon=1e-8,
    global_clipnorm=clip_norm,
    use_ema=ema_momentum is not None,
    ema_momentum=ema_momentum or 0.99,
  )
