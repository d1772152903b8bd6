"""The pipeline's promises: grouping, distinct trajectories, resumption, clear refusals."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import data
from crtr_tf.puzzles import LightsOut, RubiksCube

PUZZLE = LightsOut(4, 4, trajectory_moves=9)


def batches(count: int = 3, source=None, **options) -> list[dict[str, np.ndarray]]:
  defaults = {"batch_size": 32, "repetition_factor": 2, "discount": 0.9, "seed": 7}
  source = source or data.simulated_trajectories(PUZZLE)
  dataset = data.contrastive_batches(source, **{**defaults, **options})
  return list(itertools.islice(dataset.as_numpy_iterator(), count))


def assert_equal_batches(left: list[dict[str, np.ndarray]], right: list[dict[str, np.ndarray]]):
  assert len(left) == len(right)
  for a, b in zip(left, right, strict=True):
    assert a.keys() == b.keys()
    for name in a:
      np.testing.assert_array_equal(a[name], b[name])


def test_element_spec_is_static():
  dataset = data.contrastive_batches(
    data.simulated_trajectories(PUZZLE), 32, 2, 0.9, seed=0, negatives="uniform"
  )
  spec = {name: (tuple(s.shape), s.dtype) for name, s in dataset.element_spec.items()}
  assert spec == {
    "states": ((32, 16), tf.uint8),
    "goals": ((32, 16), tf.uint8),
    "negatives": ((32, 16), tf.uint8),
    "groups": ((32,), tf.int64),
    "offsets": ((32,), tf.int32),
  }


def test_a_batch_of_512_with_factor_2_holds_256_episodes_each_twice_and_adjacent():
  for batch in batches(source=data.simulated_trajectories(RubiksCube()), batch_size=512):
    groups = batch["groups"]
    assert len(np.unique(groups)) == 256
    np.testing.assert_array_equal(groups[0::2], groups[1::2])


@pytest.mark.parametrize("factor", [1, 2, 4, 32])
def test_rows_of_a_group_are_adjacent_and_groups_distinct(factor: int):
  for batch in batches(repetition_factor=factor):
    runs = [len(list(run)) for _, run in itertools.groupby(batch["groups"])]
    assert runs == [factor] * (32 // factor)
    assert len(np.unique(batch["groups"])) == 32 // factor


def test_crl_batches_have_no_accidental_in_trajectory_negatives():
  for batch in batches(count=50, repetition_factor=1):
    same = batch["groups"][:, None] == batch["groups"][None, :]
    assert same.sum() == len(same), "a negative from the anchor's own trajectory"


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_contiguous_parts_hold_whole_groups(replicas: int):
  data.check_replicas(32, 4, replicas)
  for batch in batches(repetition_factor=4):
    parts = np.split(batch["groups"], replicas)
    owners = [set(part) for part in parts]
    assert sum(len(owner) for owner in owners) == len(set().union(*owners))


def test_goals_lie_offset_steps_after_their_states():
  for batch in batches(source=data.simulated_trajectories(PUZZLE), seed=3):
    for row, episode in enumerate(batch["groups"]):
      states = PUZZLE.trajectories(6, tf.constant([episode])).states[0].numpy()
      places = np.flatnonzero((states == batch["states"][row]).all(axis=1))
      goals = places + batch["offsets"][row]
      assert any((states[g] == batch["goals"][row]).all() for g in goals if g < len(states))


def test_same_seed_same_batches_and_other_seed_others():
  assert_equal_batches(batches(seed=1), batches(seed=1))
  assert (batches(seed=1)[0]["states"] != batches(seed=2)[0]["states"]).any()


@pytest.mark.parametrize("step", [1, 5])
def test_a_resumed_pipeline_continues_exactly(step: int):
  whole = batches(count=8, negatives="farther")
  assert_equal_batches(batches(count=8 - step, first_step=step, negatives="farther"), whole[step:])


@pytest.mark.parametrize("negatives", [None, "uniform"])
def test_augmented_rows_are_images_under_one_symmetry_for_each_trajectory(negatives: str | None):
  options = {"batch_size": 64, "repetition_factor": 4, "discount": 0.9, "seed": 3}
  plain = data.contrastive_batches(
    data.simulated_trajectories(PUZZLE), **options, negatives=negatives
  )
  turned = data.augmented(plain, PUZZLE, seed=3)
  assert turned.element_spec == plain.element_spec
  before, after = next(iter(plain)), next(iter(turned))
  possible = np.ones((8, 64), bool)
  for name in ("states", "goals", "negatives")[: 2 if negatives is None else 3]:
    images = [PUZZLE.symmetric_images(before[name], tf.fill([64], k)) for k in range(8)]
    possible &= np.all(np.stack(images) == after[name].numpy(), axis=2)
  of_groups = possible.reshape(8, 16, 4).all(axis=2)
  assert of_groups.any(axis=0).all()
  assert not of_groups.all(axis=0).any()  # The images differ, or this would not test anything.
  np.testing.assert_array_equal(before["groups"], after["groups"])


def test_augmented_batches_resume_and_change_with_the_epoch():
  source = data.simulated_trajectories(PUZZLE)

  def from_step(first_step: int) -> list[dict[str, np.ndarray]]:
    plain = data.supervised_batches(source, 32, seed=7, first_step=first_step)
    turned = data.augmented(plain, PUZZLE, seed=7, first_step=first_step)
    return list(turned.take(5 - first_step).as_numpy_iterator())

  assert_equal_batches(from_step(0)[3:], from_step(3))
  same = next(iter(data.supervised_batches(source, 32, seed=7)))
  repeated = tf.data.Dataset.from_tensors(same).repeat(2)
  first, second = data.augmented(repeated, PUZZLE, seed=7).as_numpy_iterator()
  assert (first["states"] != second["states"]).any()


def test_train_and_test_splits_share_no_trajectory():
  train = data.read_trajectories(data.simulated_trajectories(PUZZLE, "train"), 200, seed=0)
  test = data.read_trajectories(data.simulated_trajectories(PUZZLE, "test"), 200, seed=0)
  as_sets = [{s.tobytes() for s in part.states.numpy()} for part in (train, test)]
  assert len(as_sets[0]) == 200 and not as_sets[0] & as_sets[1]


def test_supervised_pairs_carry_their_distance():
  source = data.simulated_trajectories(PUZZLE)
  batch = next(data.supervised_batches(source, 512, seed=0).as_numpy_iterator())
  solved = (batch["goals"] == 0).all(axis=1)
  assert batch["distances"].min() == 0 and batch["distances"].max() == 9
  assert solved.any(), "the solved state is among the goals"
  same = batch["distances"] == 0
  np.testing.assert_array_equal(batch["states"][same], batch["goals"][same])


def test_scrambled_states_come_from_all_depths():
  source = data.simulated_trajectories(PUZZLE)
  states = next(data.scrambled_batches(source, 1000, seed=0).as_numpy_iterator())["states"]
  assert states.shape == (1000, 16)
  presses = [PUZZLE.optimal_presses(state).sum() for state in states[:300]]
  assert set(presses) >= {0, 1, 2, 3}


REFUSALS = {
  "factor": ({"repetition_factor": 3}, "repetition_factor must divide batch_size; got 3 and 32"),
  "zero factor": ({"repetition_factor": 0}, "repetition_factor must be at least 1; got 0"),
  "batch": ({"batch_size": 0}, "batch_size must be at least 1; got 0"),
  "discount one": ({"discount": 1.0}, "discount must lie between 0 and 1, both excluded; got 1.0"),
  "discount zero": ({"discount": 0.0}, "both excluded; got 0.0"),
  "offset": ({"min_offset": 2}, "min_offset must be 0 or 1; got 2"),
  "negatives": ({"negatives": "hard"}, "negatives must be None or one of .* got 'hard'"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_arguments_are_refused_before_anything_runs(name: str):
  options, message = REFUSALS[name]
  with pytest.raises(ValueError, match=message):
    batches(**options)


def test_replicas_that_would_tear_a_group_are_refused():
  with pytest.raises(ValueError, match=r"divisible by num_replicas .* got 32, 3 and 2"):
    data.check_replicas(32, 2, 3)


def test_unknown_split_is_refused():
  with pytest.raises(ValueError, match=r"must be one of .* got 'validation'"):
    data.simulated_trajectories(PUZZLE, "validation")
