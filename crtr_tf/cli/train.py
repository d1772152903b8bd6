r"""Trains a model as a configuration says; the same command goes on with a run that was stopped.

  crtr-train --gin_file=gin/cpu/digit_jumper_crtr.gin --run_dir=runs/digit_jumper

Stop it with Ctrl-C or SIGTERM: it saves a checkpoint first.
"""

import pathlib

from absl import flags

from crtr_tf.cli import common

_RUN_DIR = flags.DEFINE_string("run_dir", None, "Folder of the run.", required=True)
flags.adopt_module_key_flags(common)  # for --help


def main(argv: list[str]) -> None:
  del argv
  files, bindings = common.gin_flags()
  from crtr_tf.experiments import runs

  run_dir = pathlib.Path(_RUN_DIR.value)
  result = runs.train_run(run_dir, files, bindings)
  if result.finished:
    print(f"trained {result.step} steps; everything is in {run_dir}.")
  else:
    print(f"stopped after {result.step} steps; the same command goes on from there.")


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
