"""Generated Sokoban levels and the expert that solves them, compared with brute force."""

import collections

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.puzzles import NO_ACTION, counter_random
from crtr_tf.puzzles.sokoban import Cell, Sokoban, board, expert, push_search, rooms, splitmix

PUZZLE = Sokoban()
EPISODES = np.arange(200)
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


@pytest.fixture(scope="module")
def made() -> expert.ExpertTrajectories:
  """The first trajectories of the paper's setting, with the number of levels they took."""
  keys = counter_random.episode_keys("sokoban/trajectories", 0, tf.constant(EPISODES)).numpy()
  return expert.make_trajectories(keys, 12, 12, 4, 150)


def drawn(text: str) -> tuple[np.ndarray, int]:
  """A level as a state of its own size, and its width."""
  rows = text.splitlines()
  return np.array(["# .*$@+".index(symbol) for row in rows for symbol in row], np.uint8), len(
    rows[0]
  )


def random_boards(side: int, num_boxes: int, count: int) -> np.ndarray:
  """Levels after random moves, which have pushed boxes into corners of some: [count, S] uint8."""
  puzzle = Sokoban(side, side, num_boxes)
  states = puzzle.instances(0, EPISODES[:count])
  for actions in np.random.default_rng(0).integers(4, size=(12, count)):
    states = puzzle.apply(states, tf.constant(actions, tf.int32))
  return states.numpy()


def fewest_pushes(state: np.ndarray, width: int) -> int | None:
  """Breadth-first search over all positions of player and boxes, moves for free; no pruning."""
  cells, targets, boxes, player = read(state, width)
  queue, seen = collections.deque([(0, player, boxes)]), set()
  while queue:
    pushes, player, boxes = queue.popleft()
    if boxes == targets:
      return pushes
    if (player, boxes) in seen:
      continue
    seen.add((player, boxes))
    for action in range(4):
      ahead, beyond = move(player, action), move(move(player, action), action)
      if ahead in boxes:
        if beyond in cells and beyond not in boxes:
          queue.append((pushes + 1, ahead, boxes - {ahead} | {beyond}))
      elif ahead in cells:
        queue.appendleft((pushes, ahead, boxes))
  return None


def count_pushes(state: np.ndarray, width: int, plan: list[int]) -> int:
  """Plays a plan, checks that it solves the level, and counts its pushes."""
  cells, targets, boxes, player = read(state, width)
  pushes = 0
  for action in plan:
    player, beyond = move(player, action), move(move(player, action), action)
    if player in boxes:
      boxes = boxes - {player} | {beyond}
      pushes += 1
    assert player in cells and boxes <= cells
    assert len(boxes) == len(targets)  # or one was pushed onto another
  assert boxes == targets
  return pushes


def read(state: np.ndarray, width: int) -> tuple[set, set, frozenset, tuple[int, int]]:
  """The cells that are not wall, the targets, the boxes and the player, as (row, column)."""
  rows = state.reshape(-1, width)
  kinds = ((1, 2, 3, 4, 5, 6), (2, 3, 6), (3, 4), (5, 6))
  cells, targets, boxes, players = (
    frozenset((int(row), int(column)) for row, column in np.argwhere(np.isin(rows, kind)))
    for kind in kinds
  )
  return cells, targets, boxes, next(iter(players))


def move(cell: tuple[int, int], action: int) -> tuple[int, int]:
  return cell[0] + STEPS[action][0], cell[1] + STEPS[action][1]


def test_splitmix_continues_the_streams_of_counter_random():
  keys = counter_random.episode_keys("sokoban/instances", -3, tf.constant([0, 5, 2**40]))
  for key in keys.numpy():
    generator = splitmix.start(key)
    drawn = [splitmix.next_bits(generator) for _ in range(4)]
    assert drawn == counter_random.bits(tf.constant(key), tf.range(4)).numpy().tolist()
    assert drawn == [splitmix.bits(key, np.uint64(draw)) for draw in range(4)]
    generator = splitmix.start(key)
    below = [splitmix.next_below(generator, 37) for _ in range(4)]
    assert below == counter_random.integers(tf.constant(key), tf.range(4), 37).numpy().tolist()


@pytest.mark.parametrize(("side", "num_boxes", "count"), [(6, 2, 100), (6, 3, 200), (7, 3, 120)])
def test_solutions_have_the_fewest_pushes_and_pruning_loses_none(
  side: int, num_boxes: int, count: int
):
  num_solvable = 0
  for state in random_boards(side, num_boxes, count):
    fewest = fewest_pushes(state, side)
    plan = expert.solve_level(state, side)
    disturbed = expert.solve_level(state, side, weight=3.0, noise=16.0, walk_cost=0.5, key=7)
    if fewest is None:
      assert plan is None and disturbed is None
      continue
    num_solvable += 1
    assert count_pushes(state, side, plan) == fewest
    assert count_pushes(state, side, disturbed) >= fewest
  print(f"{num_solvable} of {count} boards can be solved")
  assert 0.2 * count < num_solvable < 0.8 * count


def test_frozen_boxes_are_noticed_at_once():
  # Two boxes side by side along a wall cannot move; the third one could for long.
  state, width = drawn(
    "########\n#  $$  #\n#      #\n#  $   #\n#      #\n#  ... #\n#  @   #\n########"
  )
  arguments = (push_search.COST_SCALE, np.uint64(0), 0, np.uint64(0), 1000)
  ended, _, num_nodes = push_search.search(*board.read_level(state, width), *arguments)
  assert ended == push_search.EXHAUSTED and num_nodes == 1
  # The same pair on targets is no reason to give up.
  state, width = drawn("########\n#  **  #\n#      #\n#  $   #\n#  .@  #\n########")
  assert count_pushes(state, width, expert.solve_level(state, width)) == 1


def test_a_search_gives_up_at_the_node_limit():
  state = PUZZLE.instances(0, EPISODES[:1]).numpy()[0]
  assert expert.solve_level(state, 12) is not None
  assert expert.solve_level(state, 12, node_limit=3) is None


def test_walk_cost_shortens_walks():
  levels = PUZZLE.instances(3, EPISODES[:30]).numpy()
  careless = [len(expert.solve_level(level, 12)) for level in levels]
  careful = [len(expert.solve_level(level, 12, weight=2.0, walk_cost=0.5)) for level in levels]
  assert np.mean(careful) < 0.9 * np.mean(careless)


@pytest.mark.parametrize(
  ("level", "message"),
  [
    ("#####\n# $.#\n#####", "got 0 players, 1 boxes and 1 targets"),
    ("######\n#@$$.#\n######", "got 1 players, 2 boxes and 1 targets"),
    ("#####\n#@  #\n#####", "got 1 players, 0 boxes and 0 targets"),
    ("#####\n#@$. \n#####", "the border of a level to solve must be wall"),
    (f"{'#' * 21}\n#@{'$.' * 9}#\n{'#' * 21}", "up to 8 boxes; got 9"),
  ],
)
def test_only_levels_are_solved(level: str, message: str):
  with pytest.raises(ValueError, match=message):
    expert.solve_level(*drawn(level))


@pytest.mark.parametrize(
  ("height", "width", "num_boxes"), [(6, 6, 1), (6, 6, 4), (8, 8, 8), (6, 20, 3), (24, 18, 5)]
)
def test_levels_of_many_sizes(height: int, width: int, num_boxes: int):
  puzzle = Sokoban(height, width, num_boxes)
  boards = puzzle.instances(0, EPISODES[:10]).numpy().reshape(-1, height, width)
  assert len(np.unique(boards, axis=0)) == 10
  for edge in (boards[:, 0], boards[:, -1], boards[:, :, 0], boards[:, :, -1]):
    assert (edge == Cell.WALL).all()
  for level in boards:
    assert (level == Cell.BOX).sum() == num_boxes  # none on a target
    assert np.isin(level, (Cell.TARGET, Cell.PLAYER_ON_TARGET)).sum() == num_boxes
    assert (level >= Cell.PLAYER).sum() == 1


def test_levels_can_be_solved():
  levels = PUZZLE.instances(1, EPISODES[:60]).numpy()
  for level in levels:
    plan = expert.solve_level(level, 12, weight=3.0, node_limit=200_000)
    assert count_pushes(level, 12, plan) >= 4  # Every box has left its target.


def test_rooms_that_cannot_work_are_reported():
  with pytest.raises(RuntimeError, match="found no 6x6 room where 14 boxes"):
    rooms.make_level(0, 6, 6, 14)


def test_a_trajectory_limit_that_no_level_meets_is_reported(monkeypatch: pytest.MonkeyPatch):
  monkeypatch.setattr(expert, "MAX_ATTEMPTS", 3)
  with pytest.raises(RuntimeError, match="none of 3 levels of 12x12 cells with 4 boxes"):
    expert.make_trajectories(np.arange(1, 2, dtype=np.uint64), 12, 12, 4, 2)


def test_trajectories_end_in_the_goal_and_are_padded_with_it(made: expert.ExpertTrajectories):
  goals = PUZZLE.goal(tf.constant(made.states[:, 0])).numpy()
  for states, actions, length, goal in zip(*made[:3], goals, strict=True):
    assert (states[length - 1 :] == goal).all()
    assert (states[: length - 1] >= Cell.PLAYER).any(axis=1).all()
    assert (actions[length - 1 :] == NO_ACTION).all() and (actions[: length - 1] >= 0).all()


def test_trajectories_follow_the_rules(made: expert.ExpertTrajectories):
  before = made.states[:, :-1].reshape(-1, 144)
  moved = PUZZLE.apply(tf.constant(before), tf.constant(made.actions.reshape(-1))).numpy()
  moved = moved.reshape(len(made.states), -1, 144)
  last = made.lengths - 2  # of the actions
  solved = moved[np.arange(len(last)), last]
  assert PUZZLE.is_solved(tf.constant(solved)).numpy().all()
  for row in range(len(last)):
    np.testing.assert_array_equal(moved[row, : last[row]], made.states[row, 1 : last[row] + 1])


def test_lengths_are_near_those_of_the_paper(made: expert.ExpertTrajectories):
  mean, median = made.lengths.mean(), np.median(made.lengths)
  percentile_90 = np.percentile(made.lengths, 90)
  dropped = 1 - len(made.lengths) / made.attempts.sum()
  print(f"states: mean {mean:.1f}, median {median:.0f}, 90th percentile {percentile_90:.0f};")
  print(f"longest {made.lengths.max()}, levels dropped {dropped:.1%}")
  assert 44 < mean < 56 and 38 < median < 52 and 65 < percentile_90 < 95
  assert dropped < 0.05 and made.lengths.max() <= 150


def test_long_solutions_are_dropped_for_the_next_level(made: expert.ExpertTrajectories):
  keys = counter_random.episode_keys("sokoban/trajectories", 0, tf.constant(EPISODES[:20])).numpy()
  short = expert.make_trajectories(keys, 12, 12, 4, 40)
  assert short.states.shape == (20, 40, 144) and short.lengths.max() <= 40
  fits = (made.attempts[:20] == 1) & (made.lengths[:20] <= 40)
  assert fits.any() and not fits.all()
  np.testing.assert_array_equal(short.attempts == 1, fits)
  np.testing.assert_array_equal(short.states[fits, 0], made.states[:20][fits, 0])


def test_the_same_seed_gives_the_same_bytes(made: expert.ExpertTrajectories):
  some = [131, 7, 60]
  again = PUZZLE.trajectories(0, tf.constant(some, tf.int64))
  for part, whole in zip(again, made[:3], strict=True):
    np.testing.assert_array_equal(part, whole[some])
  # Written down once: neither a new version nor another machine may change data unnoticed.
  hashes = PUZZLE.hash(tf.constant(made.states[:8].reshape(8 * 150, 144)))
  assert int(tf.reduce_sum(hashes)) == -5188750103177036903


def test_seeds_and_streams_differ(made: expert.ExpertTrajectories):
  few = tf.constant(EPISODES[:20])
  instances = PUZZLE.instances(0, few).numpy()
  assert (instances != made.states[:20, 0]).any(axis=1).all()
  assert (instances != PUZZLE.instances(1, few).numpy()).any(axis=1).all()
  assert (PUZZLE.trajectories(1, few).states[:, 0] != made.states[:20, 0]).numpy().any(axis=1).all()


def test_generators_work_in_a_tf_data_pipeline(made: expert.ExpertTrajectories):
  pipeline = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
  pipeline = pipeline.map(lambda episodes: PUZZLE.trajectories(0, episodes))
  assert pipeline.element_spec.states.shape == (4, 150, 144)
  assert pipeline.element_spec.actions.shape == (4, 149)
  states = np.concatenate([batch.states for batch in pipeline.as_numpy_iterator()])
  np.testing.assert_array_equal(states, made.states[:8])
