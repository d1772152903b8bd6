"""Rubik's Cube: 54 stickers, twelve quarter turns."""

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base, counter_random
from crtr_tf.puzzles.rubiks_cube import facelets, geometry, scrambles

if TYPE_CHECKING:
  from matplotlib import axes as mpl_axes

_MOST_LETTERS_OF_A_MOVE = 3  # a longer word of letters only is meant as a facelet string


class RubiksCube(base.Puzzle):
  """Rubik's Cube in the quarter-turn metric.

  Args:
    trajectory_moves: moves of a training scramble; the paper's trajectories have 21 states.
    allow_undo: whether a training scramble may take back its last move at once (the paper's may).
    evaluation_moves: moves of an evaluation scramble, never undoing the move before. The paper uses
      1000; anything from about 100 on is as good as uniformly random.
  """

  name = "rubiks_cube"
  state_size = geometry.NUM_STICKERS
  num_values = 6
  action_names = geometry.MOVES
  inverse_actions = geometry.INVERSE_MOVES

  def __init__(
    self, trajectory_moves: int = 20, allow_undo: bool = True, evaluation_moves: int = 1000
  ):
    for name, value in (
      ("trajectory_moves", trajectory_moves),
      ("evaluation_moves", evaluation_moves),
    ):
      if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value}.")
    self.trajectory_moves = trajectory_moves
    self.allow_undo = allow_undo
    self.evaluation_moves = evaluation_moves
    self.max_trajectory_states = trajectory_moves + 1

  def apply(self, states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    return _turn(states, actions)

  def children(self, states: tf.Tensor) -> base.Children:
    children = tf.gather(states, tf.constant(geometry.move_permutations()), axis=1)
    return base.Children(children, tf.ones(tf.shape(children)[:2], tf.bool))

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    return _is_solved(states)

  def goal(self, states: tf.Tensor) -> tf.Tensor:
    return tf.broadcast_to(tf.constant(geometry.SOLVED), tf.shape(states))

  def symmetries(self) -> base.Symmetries:
    """The cube turned as a whole (the first 24) and mirrored, colours renamed to match."""
    rows, colours, _ = geometry.symmetries()
    return base.Symmetries(rows, colours)

  def instances(self, seed: int, episodes: tf.Tensor) -> tf.Tensor:
    keys = counter_random.episode_keys("rubiks_cube/instances", seed, episodes)
    return _random_cubes(keys, self.evaluation_moves)

  def trajectories(self, seed: int, episodes: tf.Tensor) -> base.Trajectories:
    keys = counter_random.episode_keys("rubiks_cube/trajectories", seed, episodes)
    moves = _random_scrambles(keys, self.trajectory_moves, self.allow_undo)
    states = scrambles.unscrambling_states(moves)
    actions = _undoing(moves)
    lengths = tf.fill(tf.shape(keys), self.max_trajectory_states)
    return base.Trajectories(states, actions, lengths)

  def parse_instance(self, text: str) -> np.ndarray:
    """A facelet string, or a scramble in Singmaster moves applied to the solved cube."""
    if text.isalpha() and len(text) > _MOST_LETTERS_OF_A_MOVE:
      return facelets.parse_facelets(text)
    state = geometry.SOLVED
    for move in facelets.parse_moves(text):
      state = state[geometry.move_permutations()[move]]
    return state.copy()

  def format_instance(self, state: np.ndarray) -> str:
    return facelets.format_facelets(state)

  def parse_plan(self, text: str) -> list[int]:
    return facelets.parse_moves(text)

  def draw(self, state: np.ndarray, ax: "mpl_axes.Axes") -> None:
    from crtr_tf.puzzles.rubiks_cube import drawing

    drawing.draw_net(state, ax)


def _turn(states: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
  sources = tf.gather(tf.constant(geometry.move_permutations()), actions)
  return tf.gather(states, sources, batch_dims=1)


def _is_solved(states: tf.Tensor) -> tf.Tensor:
  return tf.reduce_all(states == geometry.SOLVED, axis=-1)


@tf.function(jit_compile=True)
def _random_cubes(keys: tf.Tensor, num_moves: int) -> tf.Tensor:
  """[B] keys -> [B, S] uint8 cubes after so many moves, none of which undoes the one before."""
  states = tf.broadcast_to(tf.constant(geometry.SOLVED), [tf.shape(keys)[0], geometry.NUM_STICKERS])
  previous = tf.fill(tf.shape(keys), base.NO_ACTION)

  # A scramble that comes out solved goes on until it is not; with few moves that happens.
  def unfinished(step: tf.Tensor, states: tf.Tensor) -> tf.Tensor:
    return (step < num_moves) | _is_solved(states)  # [B]

  def turn(step: tf.Tensor, states: tf.Tensor, previous: tf.Tensor):
    actions = _random_moves(keys, step, previous)
    turned = tf.where(unfinished(step, states)[:, None], _turn(states, actions), states)
    return step + 1, turned, actions

  def any_unfinished(step: tf.Tensor, states: tf.Tensor, _) -> tf.Tensor:
    return tf.reduce_any(unfinished(step, states))

  return tf.while_loop(any_unfinished, turn, (0, states, previous))[1]


@tf.function(jit_compile=True)
def _random_scrambles(keys: tf.Tensor, num_moves: int, allow_undo: bool) -> tf.Tensor:
  """[M, B] int32 moves, away from the solved cube."""
  if allow_undo:
    return counter_random.integers(keys[None, :], tf.range(num_moves)[:, None], len(geometry.MOVES))
  moves = [tf.fill(tf.shape(keys), base.NO_ACTION)]
  for step in range(num_moves):
    moves.append(_random_moves(keys, step, moves[-1]))
  return tf.stack(moves[1:])


@tf.function(jit_compile=True)
def _undoing(moves: tf.Tensor) -> tf.Tensor:
  """The moves that take back [M, B] moves, last one first: [B, M] int32."""
  return tf.transpose(tf.reverse(_inverse(moves), axis=[0]))


def _inverse(moves: tf.Tensor) -> tf.Tensor:
  return tf.bitwise.bitwise_xor(moves, 1)  # see geometry.INVERSE_MOVES


def _random_moves(keys: tf.Tensor, step: int | tf.Tensor, previous: tf.Tensor) -> tf.Tensor:
  """[B] moves, uniform among those that do not take back `previous` [B]."""
  num_moves = len(geometry.MOVES)
  first = previous == base.NO_ACTION
  draw = counter_random.integers(keys, step, tf.where(first, num_moves, num_moves - 1))
  undo = _inverse(tf.maximum(previous, 0))
  return draw + tf.cast(~first & (draw >= undo), tf.int32)
