r"""Trains a model as a configuration says; the same command goes on with a run that was stopped.

  crtr-train --gin_file=gin/cpu/digit_jumper_crtr.gin --run_dir=runs/digit_jumper

Stop it with Ctrl-C or SIGTERM: it saves a checkpoint first.
"""

import pathlib

import gin
from absl import flags

from crtr_tf.cli import common

_RUN_DIR = flags.DEFINE_string("run_dir", None, "Folder of the run.", required=True)


def main(argv: list[str]) -> None:
  del argv
  config = common.parse_gin()
  from crtr_tf import training
  from crtr_tf.training import run_directory

  run_dir = pathlib.Path(_RUN_DIR.value)
  run_directory.claim(run_dir, config)
  # Before the arguments of `train` are made: hosts must find each other before anything else runs.
  strategy = gin.get_configurable(training.make_strategy)()
  result = gin.get_configurable(training.train)(run_dir, strategy=strategy)
  run_directory.write_atomically(
    run_dir / run_directory.OPERATIVE_CONFIG, gin.operative_config_str()
  )
  if result.finished:
    print(f"trained {result.step} steps; everything is in {run_dir}.")
  else:
    print(f"stopped after {result.step} steps; the same command goes on from there.")


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
