"""Batches for the tests of the models."""

import numpy as np
import tensorflow as tf

CONTEXT_CELLS, TIMES = 6, 12


def random_batch(
  rows: int = 16, size: int = 6, num_values: int = 4, seed: int = 0, negatives: bool = False
) -> dict[str, np.ndarray]:
  """Unrelated states and goals, two rows from each group."""
  rng = np.random.default_rng(seed)
  roles = ("states", "goals", "negatives") if negatives else ("states", "goals")
  cells = {role: rng.integers(0, num_values, (rows, size), dtype=np.uint8) for role in roles}
  return {**cells, "groups": np.repeat(np.arange(rows // 2, dtype=np.int64), 2)}


def context_and_time(steps: int, rows: int, repetition_factor: int, seed: int) -> tf.data.Dataset:
  """Trajectories of a clock in a random context: cells that never change, and one that counts."""
  rng = np.random.default_rng(seed)
  shape = (steps, rows)
  groups = np.arange(rows) // repetition_factor
  contexts = rng.integers(0, TIMES, (steps, rows, CONTEXT_CELLS))[:, groups]
  times = rng.integers(0, TIMES - 1, shape)
  later = np.minimum(times + rng.geometric(0.4, shape), TIMES - 1)
  return tf.data.Dataset.from_tensor_slices(
    {
      "states": np.concatenate([contexts, times[..., None]], axis=-1).astype(np.uint8),
      "goals": np.concatenate([contexts, later[..., None]], axis=-1).astype(np.uint8),
      "groups": np.broadcast_to(groups.astype(np.int64), shape),
    }
  )
