"""The folder of a run: its configuration, and the refusal to mix two runs in one."""

import csv
import difflib
import os
import pathlib

CONFIG = "config.gin"
OPERATIVE_CONFIG = "operative_config.gin"
CHECKPOINTS = "checkpoints"
LOGS = "logs"
METRICS = "metrics.csv"
OTHER_HOSTS = "other_hosts"  # what hosts beside the chief write, a folder each


class RunDirectoryError(ValueError):
  """The folder belongs to a run with another configuration."""


def claim(run_dir: pathlib.Path, config: str) -> None:
  """Makes the folder this configuration's, or checks that it already is.

  Args:
    run_dir: created if it does not exist.
    config: the text that determines the run.

  Raises:
    RunDirectoryError: with the lines that differ.
  """
  run_dir.mkdir(parents=True, exist_ok=True)
  path = run_dir / CONFIG
  if not path.exists():
    write_atomically(path, config)
    return
  before = path.read_text()
  if before != config:
    changes = difflib.unified_diff(
      before.splitlines(), config.splitlines(), "the run there", "this command", lineterm="", n=0
    )
    shown = "; ".join(line for line in list(changes)[2:] if not line.startswith("@@"))
    raise RunDirectoryError(
      f"{run_dir} belongs to a run with another configuration ({shown}); "
      "choose another run_dir or remove that one."
    )


def training_seconds(run_dir: pathlib.Path) -> float | None:
  """How long the steps of a run took in all, over all its resumptions; None if none are logged."""
  path = run_dir / METRICS
  if not path.exists():
    return None
  seconds, last_step = 0.0, 0
  with open(path, newline="") as file:
    for row in csv.DictReader(file):
      if row["metric"] == "steps_per_second":
        step = int(row["step"])
        seconds += (step - last_step) / float(row["value"])
        last_step = step
  return seconds if last_step else None


def write_atomically(path: pathlib.Path, text: str) -> None:
  """Never leaves a half-written file under its final name."""
  partial = path.with_name(f"{path.name}.{os.getpid()}.partial")  # hosts may write at once
  partial.write_text(text)
  partial.replace(path)
