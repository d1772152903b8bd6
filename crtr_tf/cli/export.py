r"""Writes the model of a training run as a SavedModel.

  crtr-export --run_dir=runs/digit_jumper --export_dir=models/digit_jumper/1
  crtr-export --model=digit_jumper --export_dir=models/digit_jumper/2 --solver=greedy

Beside the weights it holds the compiled search (signature `solve`) and, in assets.extra/crtr.json,
what the model is for and how it came to be. The flags of the search set what `solve` does and what
crtr-solve does by default.
"""

import pathlib

from absl import flags

from crtr_tf.cli import common, solver_flags

_RUN_DIR = flags.DEFINE_string("run_dir", None, "Folder of the run.")
_MODEL = flags.DEFINE_string(
  "model", None, "In place of a run: a model to write again, with another search."
)
_EXPORT_DIR = flags.DEFINE_string(
  "export_dir", None, "Folder to write; TensorFlow Serving wants a number for its name.",
  required=True,
)  # fmt: skip
_CHECKPOINT = flags.DEFINE_enum(
  "checkpoint", "latest", ["latest", "best"], "Which one; best is by train.best_metric."
)
_CALIBRATE = flags.DEFINE_bool(
  "calibrate", True, "Fits on new trajectories what distances mean in steps, for --alpha=auto."
)
_JIT = flags.DEFINE_bool(
  "jit", None, "Whether XLA compiles the signature `solve`; by default where that is faster."
)
flags.adopt_module_key_flags(solver_flags)  # for --help


def main(argv: list[str]) -> None:
  del argv
  from crtr_tf import export
  from crtr_tf.experiments import runs

  settings = export.SolverSettings(**solver_flags.given())
  directory = pathlib.Path(_EXPORT_DIR.value)
  if (_RUN_DIR.value is None) == (_MODEL.value is None):
    raise ValueError("give either --run_dir, the folder of a run, or --model, to write one again.")
  if _MODEL.value is not None:
    metadata = runs.export_again(_MODEL.value, directory, settings, _JIT.value)
  else:
    metadata = runs.export_run(
      pathlib.Path(_RUN_DIR.value),
      directory,
      settings,
      checkpoint=_CHECKPOINT.value,
      calibrate=_CALIBRATE.value,
      jit_compile=_JIT.value,
    )
  training = metadata.training
  print(
    f"{training.method} for {metadata.puzzle['name']}, {training.steps} steps, written to "
    f"{directory} (weights {metadata.weights})."
  )


def run() -> None:
  """Entry point of the console script."""
  common.run(main)


if __name__ == "__main__":
  run()
