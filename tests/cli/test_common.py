"""Errors as users see them."""

import importlib.metadata
import subprocess
import sys

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


_SOME_FLAGS = {
  "crtr-train": ["run_dir", "gin_file", "gin_bindings"],
  "crtr-export": ["run_dir", "solver"],
  "crtr-solve": ["instances", "beam_width", "[no]resume"],
  "crtr-evaluate": ["num_instances", "budget"],
  "crtr-reproduce": ["result", "scale"],
  "crtr-quickstart": ["out_dir"],
}


@pytest.mark.parametrize("command", _SOME_FLAGS)
def test_help_of_a_console_script_shows_its_text_and_its_flags(command: str):
  (script,) = importlib.metadata.entry_points(group="console_scripts", name=command)
  module, function = script.value.split(":")
  outcome = subprocess.run(
    [sys.executable, "-c", f"from {module} import {function}; {function}()", "--help"],
    capture_output=True,
    text=True,
  )
  assert f"  {command}" in outcome.stdout  # the example that can be pasted
  for flag in _SOME_FLAGS[command]:
    assert f"\n  --{flag}:" in outcome.stdout
