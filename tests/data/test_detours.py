"""Detours: pairs on random walks that leave the trajectory of their group."""

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import data, puzzles

PUZZLE = puzzles.LightsOut(4, 4, trajectory_moves=9)
OPTIONS = {"batch_size": 64, "repetition_factor": 4, "discount": 0.9, "seed": 3}
ROOM = """
########
#      #
#  $@ .#
#      #
#      #
########
"""


def plain_batches(first_step: int = 0) -> tf.data.Dataset:
  return data.contrastive_batches(
    data.simulated_trajectories(PUZZLE), **OPTIONS, first_step=first_step
  )


def with_detours(first_step: int = 0, share: float = 0.25, max_moves: int = 5) -> tf.data.Dataset:
  return data.with_detours(
    plain_batches(first_step), PUZZLE, share, max_moves, seed=3, first_step=first_step
  )


def standing_still(state: np.ndarray, rows: int) -> tf.data.Dataset:
  """Batches of which every row starts at the same state."""
  states = tf.repeat(state[None], rows, axis=0)
  batch = {"states": states, "goals": states, "offsets": tf.zeros(rows, tf.int32)}
  return tf.data.Dataset.from_tensors(batch).repeat()


def test_a_share_of_every_group_leaves_the_path_and_the_rest_stays():
  assert with_detours().element_spec == plain_batches().element_spec
  before, after = next(iter(plain_batches())), next(iter(with_detours()))
  changed = (before["states"].numpy() != after["states"].numpy()).any(axis=1).reshape(16, 4)
  assert not changed[:, :3].any()
  assert changed[:, 3].sum() >= 12  # A walk may come back to where it began.
  np.testing.assert_array_equal(before["groups"], after["groups"])


def test_a_pair_on_a_detour_lies_as_many_moves_apart_as_it_says():
  before, after = next(iter(plain_batches())), next(iter(with_detours()))
  offsets = after["offsets"].numpy()[3::4]
  assert offsets.min() >= 1 and offsets.max() <= 4 and len(set(offsets)) > 1
  for first, second, most in (
    (before["states"], after["states"], np.full(16, 4)),
    (after["states"], after["goals"], offsets),
  ):
    for one, other, moves in zip(first.numpy()[3::4], second.numpy()[3::4], most, strict=True):
      assert PUZZLE.optimal_presses(one ^ other).sum() <= moves


def test_detours_resume():
  def from_step(first_step: int) -> list[dict[str, np.ndarray]]:
    return list(with_detours(first_step).take(5 - first_step).as_numpy_iterator())

  for expected, resumed in zip(from_step(0)[3:], from_step(3), strict=True):
    for name, value in expected.items():
      np.testing.assert_array_equal(resumed[name], value)


def test_a_push_is_preferred_to_a_step():
  room = puzzles.Sokoban(6, 8, num_boxes=1)
  state = room.parse_instance(ROOM)
  batches = data.with_detours(standing_still(state, 4000), room, share=0.5, max_moves=2, seed=0)
  pushed = room.apply(state[None], tf.constant([room.action_names.index("L")]))[0].numpy()
  early = next(iter(batches))["states"].numpy()[1::2]
  share = (early == pushed).all(axis=1).mean()
  assert share == pytest.approx(1 - (3 / 4) ** 3, abs=0.03)  # one of three random moves


def test_who_cannot_move_stays():
  room = puzzles.Sokoban(6, 8, num_boxes=1)
  goal = room.goal(room.parse_instance(ROOM)[None])[0].numpy()  # without a player
  batch = next(iter(data.with_detours(standing_still(goal, 4), room, 0.5, 3, seed=0)))
  assert (batch["goals"].numpy() == goal).all()


@pytest.mark.parametrize(
  ("options", "reason"),
  [
    ({"share": 0.0}, "share of detours must lie between 0 and 1"),
    ({"share": 1.0}, "share of detours must lie between 0 and 1"),
    ({"max_moves": 1}, "at least 2 moves"),
  ],
)
def test_impossible_detours_are_refused(options: dict[str, float], reason: str):
  with pytest.raises(ValueError, match=reason):
    with_detours(**options)
