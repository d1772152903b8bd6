"""What every puzzle must do, whatever its rules: a new puzzle joins by one line in CASES."""

import numpy as np
import pytest
import tensorflow as tf
from matplotlib import figure

from crtr_tf import puzzles
from crtr_tf.puzzles import NO_ACTION, InstanceError, Puzzle, drawing

CASES = {
  "rubiks_cube": puzzles.RubiksCube(evaluation_moves=30),
  "rubiks_cube_no_undo": puzzles.RubiksCube(trajectory_moves=23, allow_undo=False),
  "sokoban": puzzles.Sokoban(),
  "sokoban_8x9": puzzles.Sokoban(height=8, width=9, num_boxes=2),
  "n_puzzle": puzzles.NPuzzle(),
  "n_puzzle_3": puzzles.NPuzzle(size=3),
  "n_puzzle_5": puzzles.NPuzzle(size=5),
  "lights_out": puzzles.LightsOut(),
  "lights_out_4x6": puzzles.LightsOut(height=4, width=6, trajectory_moves=10),
  "digit_jumper": puzzles.DigitJumper(),
  "digit_jumper_5x8": puzzles.DigitJumper(height=5, width=8),
}
HOST_GENERATED = ("sokoban",)  # levels come from a search on the host, which XLA cannot compile
EPISODES = tf.range(24, dtype=tf.int64)


@pytest.fixture(params=CASES, scope="module")
def puzzle(request: pytest.FixtureRequest) -> Puzzle:
  return CASES[request.param]


@pytest.fixture(scope="module")
def trajectories(puzzle: Puzzle) -> puzzles.Trajectories:
  return puzzle.trajectories(5, EPISODES)


@pytest.fixture(scope="module")
def states(puzzle: Puzzle, trajectories: puzzles.Trajectories) -> tf.Tensor:
  """Instances and states on the way, the player-less last ones of Sokoban among them."""
  on_the_way = tf.reshape(trajectories.states[:8], [-1, puzzle.state_size])
  return tf.concat([puzzle.instances(5, EPISODES), on_the_way], axis=0)


def test_every_puzzle_of_the_package_is_covered():
  assert {puzzle.name for puzzle in CASES.values()} == set(puzzles.PUZZLES)


def test_shapes_and_values(puzzle: Puzzle, states: tf.Tensor):
  assert states.dtype == tf.uint8
  assert states.shape[-1] == puzzle.state_size
  assert int(tf.reduce_max(states)) < puzzle.num_values <= 256
  if puzzle.board_shape is not None:
    assert np.prod(puzzle.board_shape) == puzzle.state_size
  children, valid = puzzle.children(states)
  assert children.shape == (len(states), puzzle.num_actions, puzzle.state_size)
  assert children.dtype == tf.uint8 and valid.dtype == tf.bool
  assert puzzle.hash(states).dtype == tf.int64 and puzzle.hash(states).shape == (len(states),)


def test_children_equal_apply_and_invalid_ones_equal_the_parent(puzzle: Puzzle, states: tf.Tensor):
  children, valid = puzzle.children(states)
  for action in range(puzzle.num_actions):
    applied = puzzle.apply(states, tf.fill([len(states)], action))
    np.testing.assert_array_equal(children[:, action], applied)
  unchanged = np.all(children.numpy() == states.numpy()[:, None], axis=-1)
  np.testing.assert_array_equal(unchanged, ~valid.numpy())


def test_inverse_actions_undo(puzzle: Puzzle, states: tf.Tensor):
  if puzzle.inverse_actions is None:
    pytest.skip(f"the moves of {puzzle.name} cannot be taken back")
  children, valid = puzzle.children(states)
  for action, inverse in enumerate(puzzle.inverse_actions):
    back = puzzle.apply(children[:, action], tf.fill([len(states)], int(inverse))).numpy()
    moved = valid.numpy()[:, action]
    np.testing.assert_array_equal(back[moved], states.numpy()[moved])


def test_goal_is_solved_and_its_own_goal(puzzle: Puzzle, states: tf.Tensor):
  goal = puzzle.goal(states)
  assert puzzle.is_solved(goal).numpy().all()
  np.testing.assert_array_equal(puzzle.goal(goal), goal)


def test_symmetries_keep_the_puzzle(puzzle: Puzzle, states: tf.Tensor):
  cells, values = puzzle.symmetries()
  states = states[:: len(states) // 12]
  hashes = []
  for number in range(len(cells)):
    numbers = tf.fill([len(states)], number)
    images = puzzle.symmetric_images(states, numbers)
    np.testing.assert_array_equal(np.sort(cells[number]), np.arange(puzzle.state_size))
    np.testing.assert_array_equal(puzzle.is_solved(images), puzzle.is_solved(states))
    goals = puzzle.symmetric_images(puzzle.goal(states), numbers)
    np.testing.assert_array_equal(puzzle.goal(images), goals)
    # The neighbours of an image are the images of the neighbours, by whatever moves.
    of_images = puzzle.children(images).states
    of_states = puzzle.symmetric_images(puzzle.children(states).states, numbers)
    np.testing.assert_array_equal(
      np.sort(puzzle.hash(of_images), axis=1), np.sort(puzzle.hash(of_states), axis=1)
    )
    hashes.append(puzzle.hash(images).numpy())
  np.testing.assert_array_equal(hashes[0], puzzle.hash(states))
  assert values is None or values.shape == (len(cells), puzzle.num_values)
  assert np.any(np.array(hashes) != hashes[0]) == (len(cells) > 1)


@pytest.mark.parametrize(
  ("name", "count"),
  [
    ("rubiks_cube", 48),
    ("sokoban", 8),
    ("sokoban_8x9", 4),
    ("n_puzzle", 2),
    ("lights_out", 8),
    ("digit_jumper", 2),
    ("digit_jumper_5x8", 1),
  ],
)
def test_number_of_symmetries(name: str, count: int):
  cells, _ = CASES[name].symmetries()
  assert len(cells) == len({tuple(row) for row in cells}) == count


def test_instances_are_not_solved(puzzle: Puzzle):
  assert not puzzle.is_solved(puzzle.instances(0, EPISODES)).numpy().any()


def test_trajectories_replay_to_the_goal(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  states, actions, lengths = (part.numpy() for part in trajectories)
  assert states.shape[1] == puzzle.max_trajectory_states
  np.testing.assert_array_equal(
    actions == NO_ACTION, np.arange(1, states.shape[1]) >= lengths[:, None]
  )
  assert lengths.min() >= 2 and lengths.max() <= puzzle.max_trajectory_states
  before = states[:, :-1].reshape(-1, puzzle.state_size)
  after = puzzle.apply(before, np.maximum(actions, 0).ravel()).numpy().reshape(states[:, 1:].shape)
  goals = puzzle.goal(states[:, 0]).numpy()
  for episode, length in enumerate(lengths):
    # The last move solves the puzzle; what is recorded for it is the goal (in Sokoban, no player).
    np.testing.assert_array_equal(after[episode, : length - 2], states[episode, 1 : length - 1])
    assert puzzle.is_solved(after[episode, length - 2][None]).numpy().all()
    assert (states[episode, length - 1 :] == goals[episode]).all()


def test_replay_gives_the_states_on_the_way(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  states, actions, lengths = (part.numpy()[0] for part in trajectories)
  replayed = puzzles.replay(puzzle, states[0], actions[: lengths - 1])
  assert replayed.shape == (lengths, puzzle.state_size)
  np.testing.assert_array_equal(replayed[:-1], states[: lengths - 1])
  np.testing.assert_array_equal(puzzles.replay(puzzle, states[0], []), states[:1])


def test_rows_do_not_depend_on_the_batch(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  some = tf.gather(EPISODES, [17, 3])
  for part, whole in zip(puzzle.trajectories(5, some), trajectories, strict=True):
    np.testing.assert_array_equal(part, tf.gather(whole, [17, 3]))
  whole = puzzle.instances(5, EPISODES)
  np.testing.assert_array_equal(puzzle.instances(5, some), tf.gather(whole, [17, 3]))


def test_seeds_and_streams_differ(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  first = trajectories.states[:, 0].numpy()
  assert (first != puzzle.trajectories(6, EPISODES).states[:, 0].numpy()).any(axis=1).mean() > 0.9
  assert (first != puzzle.instances(5, EPISODES).numpy()).any(axis=1).mean() > 0.9


def test_single_rows_equal_the_batch(puzzle: Puzzle, states: tf.Tensor):
  children, valid = puzzle.children(states)
  for row in (0, len(states) - 1):
    alone = states[row : row + 1]
    np.testing.assert_array_equal(puzzle.children(alone).states[0], children[row])
    np.testing.assert_array_equal(puzzle.children(alone).valid[0], valid[row])
    assert puzzle.hash(alone)[0] == puzzle.hash(states)[row]


def test_xla_equals_eager(puzzle: Puzzle, states: tf.Tensor):
  def everything(states: tf.Tensor, actions: tf.Tensor) -> tuple[tf.Tensor, ...]:
    moved, goal = puzzle.apply(states, actions), puzzle.goal(states)
    children, valid = puzzle.children(states)
    return moved, goal, children, valid, puzzle.is_solved(states), puzzle.hash(children)

  actions = tf.constant(np.arange(len(states)) % puzzle.num_actions, tf.int32)
  compiled = tf.function(everything, jit_compile=True)
  for xla, eager in zip(compiled(states, actions), everything(states, actions), strict=True):
    np.testing.assert_array_equal(xla, eager)


def test_generators_give_the_same_bytes_under_xla_and_in_graphs(
  puzzle: Puzzle, trajectories: puzzles.Trajectories
):
  def generate(episodes: tf.Tensor) -> tuple[tf.Tensor, ...]:
    return (*puzzle.trajectories(5, episodes), puzzle.instances(5, episodes))

  eager = (*trajectories, puzzle.instances(5, EPISODES))
  unknown_batch = tf.function(generate, input_signature=[tf.TensorSpec([None], tf.int64)])
  modes = [unknown_batch]
  if puzzle.name not in HOST_GENERATED:
    modes.append(tf.function(generate, jit_compile=True))
  for function in modes:
    for traced, expected in zip(function(EPISODES), eager, strict=True):
      np.testing.assert_array_equal(traced, expected)


def test_text_round_trip(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  starts = [*puzzle.instances(5, EPISODES).numpy(), *trajectories.states.numpy()[:, 0]]
  text = "\n\n".join(puzzle.format_instance(state) for state in starts)
  parsed = puzzle.parse_instances(text)
  assert parsed.errors == ()
  assert parsed.numbers == tuple(range(1, len(starts) + 1))
  np.testing.assert_array_equal(parsed.states, starts)


def test_plan_round_trip(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  states, actions, lengths = (part.numpy() for part in trajectories)
  for episode, length in enumerate(lengths):
    plan = actions[episode, : length - 1].tolist()
    assert puzzle.parse_plan(puzzle.format_plan(states[episode, 0], plan)) == plan


@pytest.mark.parametrize("text", ["", "\n  \n"])
def test_empty_input_is_refused(puzzle: Puzzle, text: str):
  with pytest.raises(InstanceError, match=f"no {puzzle.name} instance found"):
    puzzle.parse_instances(text)


def test_unknown_moves_are_refused(puzzle: Puzzle):
  with pytest.raises(InstanceError, match="Q"):
    puzzle.parse_plan("Q")


def test_solutions_are_drawn(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  length = int(trajectories.lengths[0])
  states = trajectories.states.numpy()[0, :length]
  fig = drawing.draw_solution(puzzle, states, trajectories.actions.numpy()[0, : length - 1])
  assert isinstance(fig, figure.Figure)
  panels = [ax for ax in fig.axes if ax.get_title()]
  assert len(panels) == min(24, length)
  assert panels[0].get_title() == "start"
  assert panels[-1].get_title().startswith(f"{length - 1}:")
  assert all(ax.has_data() or ax.patches for ax in panels)


def test_solutions_are_drawn_below_each_other(puzzle: Puzzle, trajectories: puzzles.Trajectories):
  length = int(trajectories.lengths[0])
  states = trajectories.states.numpy()[0, :length]
  fig = drawing.draw_strips([("one", puzzle, states), ("two", puzzle, states[:1])], num_panels=4)
  titles = [ax.get_title() for ax in fig.axes if ax.get_title()]
  assert titles[0] == "one" and titles[-1] == "two"
  assert titles[1:-1] == [f"move {step}" for step in drawing._evenly_spaced(length, 4)[1:]]


def test_draw_solution_checks_its_arguments(puzzle: Puzzle):
  state = puzzle.instances(0, EPISODES[:1]).numpy()
  with pytest.raises(ValueError, match="2 actions lead through 3 states; got 1"):
    drawing.draw_solution(puzzle, state, [0, 0])
