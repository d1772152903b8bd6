"""What the binaries share: gin flags, and errors as one line instead of a stack trace."""

import os
import re
import sys
from collections.abc import Callable, Iterator

from absl import app, flags, logging

from crtr_tf import configs

GIN_FILE = flags.DEFINE_multi_string(
  "gin_file", [], "A configuration, such as gin/cpu/digit_jumper_crtr.gin."
)
GIN_BINDINGS = flags.DEFINE_multi_string(
  "gin_bindings", [], "A binding such as 'train.num_steps = 1000'."
)

# TensorFlow's notes on the machine would bury ours; it reads this when it is imported.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

NOTHING_DONE = 2  # exit code where the input allowed nothing to be done
_INTERRUPTED = 130  # exit code of what Ctrl-C ends, by convention


def gin_flags() -> tuple[list[str], list[str]]:
  """The configuration files and the bindings that the flags name."""
  if not GIN_FILE.value:
    known = "\n  ".join(configs.list_configs())
    raise ValueError(f"--gin_file is missing. The package has:\n  {known}")
  return GIN_FILE.value, GIN_BINDINGS.value


def read_lines(path: str) -> Iterator[str]:
  """The lines of a file, or of standard input for "-", read as they are needed."""
  if path == "-":
    yield from sys.stdin
    return
  try:
    with open(path, encoding="utf-8") as file:
      yield from file
  except OSError as error:
    raise FileNotFoundError(f"{path} cannot be read: {error.strerror}.") from None
  except UnicodeDecodeError as error:
    raise ValueError(f"{path} is no text: {error}.") from None


def run(main: Callable[[list[str]], None]) -> None:
  """Runs a binary; what the user got wrong is told in one line, with exit code 2."""
  _let_help_find(main.__module__)

  def guarded(argv: list[str]) -> None:
    if len(argv) > 1:
      _fail(f"unexpected argument {argv[1]!r}; flags begin with --, see --help.")
    logging.set_verbosity(logging.WARNING)
    try:
      main(argv)
    except KeyboardInterrupt:
      print("interrupted.", file=sys.stderr)
      sys.exit(_INTERRUPTED)
    except BrokenPipeError:
      # Whoever read our output has enough; what is still buffered must go somewhere.
      os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
      sys.exit(_INTERRUPTED)
    except Exception as error:
      message = _user_message(error)
      if message is None:
        raise
      _fail(message)

  app.run(guarded)


def _let_help_find(module: str) -> None:
  """Makes --help tell of the module of a command.

  absl looks for it in the script that was started, and a console script holds neither the text nor
  the flags.
  """
  sys.modules["__main__"].__doc__ = sys.modules[module].__doc__
  for flag in flags.FLAGS.get_key_flags_for_module(module):
    flags.FLAGS.register_key_flag_for_module(sys.argv[0], flag)


def _user_message(error: Exception) -> str | None:
  """What to tell the user, None if the error is not theirs but ours."""
  import tensorflow as tf

  if isinstance(error, tf.errors.InvalidArgumentError):
    # Data that is found wrong while it is read: the text of an assertion in the pipeline.
    found = re.search(r"assertion failed: (.*)", str(error))
    return found and found.group(1).replace("[", "").replace("]", "")
  ours = (ValueError, OSError, RuntimeError)
  if not isinstance(error, ours) or isinstance(error, tf.errors.OpError | NotImplementedError):
    return None
  return str(error).split("\n  In call to configurable")[0]  # gin's trail of calls


def _fail(message: str) -> None:
  print(f"error: {message}", file=sys.stderr)
  sys.exit(NOTHING_DONE)
