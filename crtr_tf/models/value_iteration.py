"""Deep approximate value iteration, the DeepCubeA baseline: no trajectories, only the rules."""

from collections.abc import Sequence
from typing import Any, Protocol

import tensorflow as tf

from crtr_tf.models import replicas
from crtr_tf.models.base import Batch, HeuristicModel, Statistic, states_of
from crtr_tf.models.encoders import Encoder
from crtr_tf.puzzles.base import Children

STATISTICS = (
  "mean_value",  # what the network says
  "mean_target",  # what it should say
  "target_updates",  # how often the target network has been replaced so far
)


class Rules(Protocol):
  """What value iteration has to know of a puzzle."""

  def children(self, states: tf.Tensor) -> Children:
    """[B, S] -> states [B, A, S] and whether each is valid [B, A]."""
    ...

  def is_solved(self, states: tf.Tensor) -> tf.Tensor:
    """[B, S] -> [B] bool."""
    ...


class ValueIterationModel(HeuristicModel):
  """A network for the number of moves to the solved state, trained on its own lookahead.

  The target of a state is 0 if it is solved, else 1 + the least value of its children, a solved
  child having the value 0 and all others that of the target network. The target network gives 0
  everywhere at first, and takes over the weights of the trained one whenever the mean loss of the
  last `check_every` steps is under `update_threshold`: so exact values spread outwards from the
  solved state. All of its state is in variables, and is restored with the weights.

  Batches are dicts with scrambled `states` [B, S]. Because the rules are code, the model is saved
  by its weights (`save_weights`, checkpoints) and not as a `.keras` file.

  Args:
    encoder: the architecture; the model makes two networks of that kind, resized to one output.
    puzzle: its rules.
    update_threshold: the target network is replaced when the mean squared error is under this.
    check_every: how many steps lie between two such checks.
    **kwargs: of `keras.Model`.
  """

  def __init__(
    self,
    encoder: Encoder,
    puzzle: Rules,
    update_threshold: float = 0.05,
    check_every: int = 100,
    **kwargs: Any,
  ):
    super().__init__(STATISTICS, **{"dtype": encoder.dtype_policy, **kwargs})
    if update_threshold <= 0:
      raise ValueError(f"update_threshold must be positive; got {update_threshold}.")
    if check_every < 1:
      raise ValueError(f"check_every must be at least 1; got {check_every}.")
    self.encoder = encoder.resized(outputs=1)
    self.target = encoder.resized(outputs=1)
    self.target.trainable = False
    self.update_threshold = update_threshold
    self.check_every = check_every
    self._puzzle = puzzle
    self._window_loss = self._scalar("window_loss", "float32")  # summed since the last check
    self._window_steps = self._scalar("window_steps", "int32")
    self._target_updates = self._scalar("target_updates", "int32")

  def _scalar(self, name: str, dtype: str) -> Any:
    return self.add_weight(shape=(), dtype=dtype, initializer="zeros", trainable=False, name=name)

  def build(self, input_shape: Sequence[int | None]) -> None:
    """Makes the weights for states of the shape [None, S]."""
    self.encoder.build(states_of(input_shape))
    self.target.build(states_of(input_shape))

  def call(self, states: tf.Tensor | Batch, training: bool | None = None) -> tf.Tensor:
    """[N, S] -> [N] float32, the estimated moves to the solved state."""
    return self.encoder(states_of(states), training=training)[:, 0]

  def distance(self, states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    """Estimated moves: [N, S], [N, S] -> [N] float32.

    Values are learned for the puzzle's own goal alone: `goals` is there to fit the interface of the
    other models, and is not looked at.
    """
    del goals
    return self(states, training=False)

  def lookahead(self, states: tf.Tensor) -> tf.Tensor:
    """The targets of states: [B, S] -> [B] float32, without gradient."""
    children, valid = self._puzzle.children(states)
    num_states, num_children = tf.shape(valid)[0], tf.shape(valid)[1]
    flat = tf.reshape(children, [num_states * num_children, states.shape[1]])
    known = self._puzzle.is_solved(flat) | (self._target_updates == 0)
    values = tf.where(known, 0.0, self.target(flat, training=False)[:, 0])
    values = tf.where(valid, tf.reshape(values, tf.shape(valid)), float("inf"))
    best = 1.0 + tf.reduce_min(values, axis=1)
    return tf.stop_gradient(tf.where(self._puzzle.is_solved(states), 0.0, best))

  def batch_loss(self, batch: Batch, training: bool) -> tuple[tf.Tensor, dict[str, Statistic]]:
    targets = self.lookahead(batch["states"])
    values = self(batch["states"], training=training)
    statistics = {
      "mean_value": Statistic(tf.reduce_mean(values)),
      "mean_target": Statistic(tf.reduce_mean(targets)),
      "target_updates": Statistic(tf.cast(self._target_updates, tf.float32)),
    }
    return tf.reduce_mean(tf.math.squared_difference(values, targets)), statistics

  def after_step(self, loss: tf.Tensor) -> None:
    """Counts the step, and at the end of a window replaces the target network if it is time."""
    self._window_loss.assign_add(replicas.total(loss) / replicas.count())
    self._window_steps.assign_add(1)
    tf.cond(self._window_steps >= self.check_every, self._check, lambda: None)

  def _check(self) -> None:
    mean = self._window_loss / tf.cast(self._window_steps, tf.float32)
    tf.cond(mean < self.update_threshold, self._replace_target, lambda: None)
    self._window_loss.assign(0.0)
    self._window_steps.assign(0)

  def _replace_target(self) -> None:
    self._target_updates.assign_add(1)
    for kept, trained in zip(self.target.variables, self.encoder.variables, strict=True):
      kept.assign(trained)
