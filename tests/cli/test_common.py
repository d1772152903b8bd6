"""Errors as users see them."""

import pytest
import tensorflow as tf

from crtr_tf.cli import common


def test_what_a_pipeline_finds_wrong_is_told_in_its_own_words():
  @tf.function
  def check(length: tf.Tensor) -> tf.Tensor:
    message = "robots: an episode needs at least 2 states; lengths of the short ones:"
    tf.debugging.Assert(length > 1, [message, length])
    return length

  with pytest.raises(tf.errors.InvalidArgumentError) as raised:
    check(tf.constant(1))
  told = common._user_message(raised.value)
  assert told == "robots: an episode needs at least 2 states; lengths of the short ones: 1"


@pytest.mark.parametrize("error", [ValueError("no"), FileExistsError("no"), RuntimeError("no")])
def test_messages_about_the_input_are_passed_on(error: Exception):
  assert common._user_message(error) == "no"


@pytest.mark.parametrize(
  "error", [KeyError("x"), NotImplementedError(), tf.errors.InternalError(None, None, "x")]
)
def test_bugs_keep_their_stack_trace(error: Exception):
  assert common._user_message(error) is None
