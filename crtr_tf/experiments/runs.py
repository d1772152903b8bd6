"""Training runs from gin configurations: train, restore, export."""

import pathlib
from collections.abc import Sequence

import gin

from crtr_tf import configs, data, export, models, training
from crtr_tf.evaluation import calibration
from crtr_tf.training import run_directory

_NUM_CALIBRATION = 500  # trajectories
_CALIBRATION_SEED = 1  # not that of the held-out trajectories which training looks at


def train_run(
  run_dir: pathlib.Path, config_files: Sequence[str], bindings: Sequence[str] = ()
) -> training.TrainingResult:
  """Trains as a configuration says, or goes on with the run that is in the directory.

  Args:
    run_dir: of the run.
    config_files: see `configs.parse`.
    bindings: override the files.
  """
  configs.parse(config_files, bindings)
  run_directory.claim(run_dir, gin.config_str())
  # Before the arguments of `train` are made: hosts must find each other before anything else runs.
  strategy = gin.get_configurable(training.make_strategy)()
  result = gin.get_configurable(training.train)(run_dir, strategy=strategy)
  run_directory.write_atomically(
    run_dir / run_directory.OPERATIVE_CONFIG, gin.operative_config_str()
  )
  return result


def restore_run(run_dir: pathlib.Path, checkpoint: str = "latest") -> training.TrainingResult:
  """The model of a run, without the data that it was trained on.

  Args:
    run_dir: of the run.
    checkpoint: "latest" or "best".
  """
  config = run_dir / run_directory.CONFIG
  if not config.is_file():
    raise FileNotFoundError(f"{run_dir} is no run directory: it has no {run_directory.CONFIG}.")
  configs.parse([config.resolve()])
  # What is given here is not made by gin: neither data nor evaluators are needed, nor maybe there.
  return gin.get_configurable(training.train)(
    run_dir, trajectories=None, held_out=None, evaluators=(), restore=checkpoint
  )


def export_run(
  run_dir: pathlib.Path,
  directory: pathlib.Path,
  settings: export.SolverSettings,
  checkpoint: str = "latest",
  calibrate: bool = True,
  jit_compile: bool | None = None,
) -> export.Metadata:
  """Restores a run and writes its model; see `export.save`.

  Args:
    run_dir: of the run.
    directory: must not exist.
    settings: of the search.
    checkpoint: "latest" or "best".
    calibrate: whether to fit what distances mean in steps.
    jit_compile: of the `solve` signature.
  """
  export.check_free(directory)  # before any work
  result = restore_run(run_dir, checkpoint)
  if result.puzzle is None:
    raise ValueError(f"{run_dir} was not trained on a puzzle: there is nothing to solve with it.")
  steps = None
  if calibrate:
    source = data.simulated_trajectories(result.puzzle, "test")
    trajectories = data.read_trajectories(source, _NUM_CALIBRATION, _CALIBRATION_SEED)
    steps = calibration.fit(result.model.distance, trajectories)
  operative = run_dir / run_directory.OPERATIVE_CONFIG
  config = operative if operative.is_file() else run_dir / run_directory.CONFIG
  seconds = run_directory.training_seconds(run_dir)
  info = export.Training(
    result.method.name,
    result.step,
    None if seconds is None else round(seconds, 1),
    config.read_text(),
  )
  metrics = run_dir / run_directory.METRICS
  return export.save(
    result.model,
    result.puzzle,
    directory,
    info,
    settings,
    steps,
    jit_compile,
    metrics.read_text() if metrics.is_file() else None,
  )


def export_again(
  name: str,
  directory: pathlib.Path,
  settings: export.SolverSettings,
  jit_compile: bool | None = None,
) -> export.Metadata:
  """Writes an exported model once more, with another search.

  Args:
    name: a released name or a directory.
    directory: must not exist.
    settings: of the search.
    jit_compile: of the `solve` signature.
  """
  export.check_free(directory)
  exported = export.load(name)
  metadata = exported.metadata
  history = exported.directory / export.HISTORY
  return export.save(
    rebuilt_model(exported),
    exported.puzzle,
    directory,
    metadata.training,
    settings,
    metadata.calibration,
    jit_compile,
    history.read_text() if history.is_file() else None,
  )


def rebuilt_model(exported: export.ExportedModel) -> models.HeuristicModel:
  """The Keras model that was exported, made anew from its configuration and its weights.

  Raises:
    ModelError: if this version of the package makes another network of that configuration.
  """
  configs.parse([], [exported.metadata.training.config])
  method = gin.query_parameter("train.method").scoped_configurable_fn()
  spec = training.StateSpec.of(None, exported.puzzle)
  model = method.make_model(spec, exported.puzzle)
  model.build((None, spec.size))
  exported.copy_weights(model.encoder)
  return model
