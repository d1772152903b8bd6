"""All states of many random scrambles at once, fast enough to be made inside a training step.

A gather per move costs several nanoseconds per sticker on a CPU. Instead the loop keeps each
sticker as a vector over the batch: a sticker can only come from the four or six places from which
a quarter turn brings it, so one step is a few vectorised selects. The states are collected eight
stickers to a 64-bit word, which makes the final change of layout cheap.
"""

import tensorflow as tf

from crtr_tf.puzzles.rubiks_cube import geometry

_WORD_BYTES = 8
_NUM_WORDS = -(-geometry.NUM_STICKERS // _WORD_BYTES)


def unscrambling_states(actions: tf.Tensor) -> tf.Tensor:
  """All states of a scramble in reverse order, the solved cube last.

  Args:
    actions: [M, B] int32, the moves of each scramble in the order in which they are made.

  Returns:
    [B, M + 1, 54] uint8.
  """
  words = _unscrambling_words(actions)
  shape = [tf.shape(actions)[1], actions.shape[0] + 1, _NUM_WORDS * _WORD_BYTES]
  # Outside the compiled part: XLA is slow at dropping the two empty bytes of the last word.
  return tf.reshape(tf.bitcast(words, tf.uint8), shape)[:, :, : geometry.NUM_STICKERS]


@tf.function(jit_compile=True)
def _unscrambling_words(actions: tf.Tensor) -> tf.Tensor:
  """[M, B] int32 -> [B, M + 1, words] uint64."""
  num_moves = actions.shape[0]
  actions = tf.cast(actions, tf.uint8)
  rows = [tf.fill([tf.shape(actions)[1]], tf.constant(c, tf.uint8)) for c in geometry.SOLVED]
  words = [tf.TensorArray(tf.uint64, num_moves + 1).write(num_moves, w) for w in _pack(rows)]

  def turn(step: tf.Tensor, rows: list[tf.Tensor], words: list[tf.TensorArray]):
    rows = _turn(rows, actions[step])
    time = num_moves - 1 - step
    words = [array.write(time, word) for array, word in zip(words, _pack(rows), strict=True)]
    return step + 1, rows, words

  _, _, words = tf.while_loop(lambda step, *_: step < num_moves, turn, (0, rows, words))
  by_time = tf.stack([array.stack() for array in words], axis=-1)  # [M + 1, B, words]
  return tf.transpose(by_time, [1, 0, 2])


def _turn(rows: list[tf.Tensor], actions: tf.Tensor) -> list[tf.Tensor]:
  """One move: 54 vectors [B] uint8 and [B] uint8 actions -> 54 vectors [B] uint8."""
  permutations = geometry.move_permutations()
  chosen = [actions == move for move in range(len(geometry.MOVES))]  # each [B] bool
  turned = []
  for place, row in enumerate(rows):
    for move, permutation in enumerate(permutations):
      if permutation[place] != place:
        row = tf.where(chosen[move], rows[permutation[place]], row)
    turned.append(row)
  return turned


def _pack(rows: list[tf.Tensor]) -> list[tf.Tensor]:
  """54 vectors of bytes -> 7 vectors of little-endian 64-bit words, the last one part empty."""
  words = []
  for start in range(0, len(rows), _WORD_BYTES):
    word = tf.zeros_like(rows[0], tf.uint64)
    for byte, row in enumerate(rows[start : start + _WORD_BYTES]):
      shifted = tf.bitwise.left_shift(tf.cast(row, tf.uint64), tf.constant(8 * byte, tf.uint64))
      word = tf.bitwise.bitwise_or(word, shifted)
    words.append(word)
  return words
