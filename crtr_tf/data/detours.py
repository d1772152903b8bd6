"""Detours: what happens to those who leave the path.

Trajectories of an expert visit no state that he would not visit. In a puzzle where mistakes cannot
be undone a search then runs into dead ends that look just like the path beside them. A detour walks
at random from a state of the trajectory; its pairs are positives as any others, and the states of
the trajectory, the solved one among them, are negatives in the same context.
"""

import tensorflow as tf

from crtr_tf import puzzles
from crtr_tf.data.pipeline import Batch
from crtr_tf.puzzles import counter_random

_CANDIDATES = 3  # random moves of which a detour takes the one that changes the most cells


def with_detours(
  batches: tf.data.Dataset,
  puzzle: puzzles.Puzzle,
  share: float,
  max_moves: int,
  seed: int,
  first_step: int = 0,
) -> tf.data.Dataset:
  """Contrastive batches, of which a share of the rows are pairs on a detour.

  Such a row starts at the state it had before. Its new state and goal are two different places of a
  walk of up to `max_moves` random moves from there, the earlier one first. Of three random moves
  the one that changes most is made: in Sokoban rather a push than a step.

  Args:
    batches: dicts with `states`, `goals` [B, S] and `offsets` [B], for steps first_step, ...
    puzzle: whose moves are made.
    share: of the rows, in (0, 1); every 1 / share-th row, so all trajectories have as many.
    max_moves: of a detour, at least 2.
    seed: of the moves.
    first_step: the training step that the first element is for.
  """
  if not 0 < share < 1:
    raise ValueError(f"the share of detours must lie between 0 and 1; got {share}.")
  if max_moves < 2:
    raise ValueError(f"a detour has at least 2 moves, to have a pair on it; got {max_moves}.")
  if "offsets" not in batches.element_spec:
    raise ValueError("detours are for contrastive batches: no other method has negatives.")

  def leave_path(step: tf.Tensor, batch: Batch) -> Batch:
    row_numbers = range(batch["states"].shape[0])
    rows = tf.constant([i for i in row_numbers if int((i + 1) * share) > int(i * share)], tf.int64)
    step_key = counter_random.episode_keys("detours", seed, step[None])
    keys = counter_random.bits(step_key, rows)
    first = counter_random.integers(keys, 0, max_moves) + 1
    second = counter_random.integers(keys, 1, max_moves - 1) + 1
    second += tf.cast(second >= first, tf.int32)
    early, late = tf.minimum(first, second), tf.maximum(first, second)
    states, goals = _walk(puzzle, tf.gather(batch["states"], rows), keys, early, late)
    changed = {"states": states, "goals": goals, "offsets": late - early}
    return {
      **batch,
      **{name: _with_rows(batch[name], rows, new) for name, new in changed.items()},
    }

  steps = batches.enumerate(first_step)
  return steps.map(leave_path, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).prefetch(
    tf.data.AUTOTUNE
  )


def _walk(
  puzzle: puzzles.Puzzle, starts: tf.Tensor, keys: tf.Tensor, early: tf.Tensor, late: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """[N, S] starts, [N] keys and numbers of moves -> the states after so many moves, [N, S] each."""

  def move(number: tf.Tensor, state: tf.Tensor, at_early: tf.Tensor, at_late: tf.Tensor):
    children, valid = puzzle.children(state)
    ranks = tf.cumsum(tf.cast(valid, tf.int32), axis=1)  # of the possible moves: 1, 2, ...
    count = ranks[:, -1:]
    # Draws 0 and 1 are where the pair lies.
    draws = 2 + (number - 1) * _CANDIDATES + tf.range(_CANDIDATES)
    chosen = counter_random.integers(keys[:, None], draws[None], tf.maximum(count, 1))
    actions = tf.argmax(ranks[:, None, :] > chosen[:, :, None], axis=2)  # [N, candidates]
    candidates = tf.gather(children, actions, axis=1, batch_dims=1)
    changes = tf.reduce_sum(tf.cast(candidates != state[:, None], tf.int32), axis=2)
    moved = tf.gather(candidates, tf.argmax(changes, axis=1), axis=1, batch_dims=1)
    state = tf.where(count > 0, moved, state)
    at_early = tf.where((number == early)[:, None], state, at_early)
    at_late = tf.where((number == late)[:, None], state, at_late)
    return number + 1, state, at_early, at_late

  last = tf.reduce_max(late)
  loop = tf.while_loop(lambda number, *_: number <= last, move, (1, starts, starts, starts))
  return loop[2], loop[3]


def _with_rows(x: tf.Tensor, rows: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
  return tf.ensure_shape(tf.tensor_scatter_nd_update(x, rows[:, None], new), x.shape)
