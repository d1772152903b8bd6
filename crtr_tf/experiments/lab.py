"""Carries out tasks and keeps their outcomes: what was done once is not done again."""

import contextlib
import csv
import dataclasses
import gc
import json
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import gin
import keras
import numpy as np
import tensorflow_datasets as tfds
from absl import logging

import crtr_tf.datasets
from crtr_tf import configs, data, export, puzzles
from crtr_tf.evaluation import bulk, evaluate
from crtr_tf.experiments import runs
from crtr_tf.experiments.scales import Scale
from crtr_tf.experiments.tasks import Measure, Released, Run, Search, Task, fingerprint
from crtr_tf.training import run_directory

_INSTANCE_SEED = 0  # of all evaluation instances: results of different runs compare
_MODEL = "model"
_FINISHED = "finished"
_ANY_DATASET = "DATASET = None"


@dataclasses.dataclass(frozen=True)
class Trained:
  """The outcome of a run.

  Attributes:
    run_dir: everything that training wrote.
    model_dir: the exported model; None where there is no puzzle to solve.
    metrics: by name, the steps and the values that were logged at them.
  """

  run_dir: pathlib.Path
  model_dir: pathlib.Path | None
  metrics: dict[str, tuple[list[int], list[float]]]


class Lab:
  """A folder of finished and unfinished tasks at one scale.

  Args:
    directory: where outcomes are kept.
    scale: how large everything is.
    say: called with lines on what is going on.
    in_process: trains in this process, which is faster for tests; otherwise each run is a process
      of its own, as its command would be.
  """

  def __init__(
    self,
    directory: pathlib.Path,
    scale: Scale,
    say: Callable[[str], None] = print,
    in_process: bool = False,
  ):
    self.directory = directory
    self.scale = scale
    self._say = say
    self._in_process = in_process
    self._builders: dict[str, tfds.core.DatasetBuilder] = {}
    self._run_names: dict[Run, str] = {}

  def outcome(self, task: Task) -> Any:
    """Carries a task out, or reads what came out earlier.

    Returns:
      `Trained` for a run, `evaluate.Solved` for a search, a record (dict) for a measure.
    """
    if isinstance(task, Run | Released):
      return self._trained(task)
    path = self.path(task)
    if not path.exists():
      self._say(f"{describe(task)} ...")
      make = self._search if isinstance(task, Search) else self._measure
      path.parent.mkdir(parents=True, exist_ok=True)
      run_directory.write_atomically(path, json.dumps(make(task)) + "\n")
      self._forget_graphs()
    record = json.loads(path.read_text())
    return _solved_from(record) if isinstance(task, Search) else record

  def is_done(self, task: Task) -> bool:
    return self.path(task).exists()

  def path(self, task: Task) -> pathlib.Path:
    """The file or folder whose existence says that a task is done."""
    if isinstance(task, Released):
      return export.find(task.name)
    if isinstance(task, Run):
      return self.run_dir(task) / (_MODEL if _can_solve(task) else _FINISHED)
    if isinstance(task, Measure):
      own = fingerprint(self.scale.num_trajectories, _INSTANCE_SEED)
      return self.run_dir(task.run) / f"measure-{own}.json"
    settings = sorted(self._settings(task).items())
    own = fingerprint(self._num_instances(task), _INSTANCE_SEED, settings, self._difficulty(task))
    return self.run_dir(task.run) / f"search-{own}.json"

  def run_dir(self, run: Run | Released) -> pathlib.Path:
    """Where a run and all that is known of it is kept.

    Its name has a hash of its whole configuration in it; that of a released model, of its weights
    and of what it recommends.
    """
    if isinstance(run, Released):
      metadata = export.Metadata.read(export.find(run.name))
      hashed = fingerprint(metadata.weights, metadata.solver, metadata.calibration)
      return self.directory / "runs" / "released" / f"{run.name}-{hashed}"
    if run not in self._run_names:
      data_config = self.scale.dataset.get(run.puzzle)
      # Where data are does not matter, what they are does.
      configs.parse(self.config_files(run), [*self.bindings(run, with_data=False), _ANY_DATASET])
      hashed = fingerprint(gin.config_str(), data_config)
      self._run_names[run] = f"{run.puzzle}-{run.method}-{run.seed}-{hashed}"
    return self.directory / "runs" / self.scale.name / self._run_names[run]

  def config_files(self, run: Run) -> list[str]:
    """All gin files of a run."""
    return [*run.config_files(self.scale.folder), *self.scale.layers.get(run.puzzle, ())]

  def bindings(self, run: Run, with_data: bool = True) -> list[str]:
    """All gin bindings of a run; `with_data` adds where its dataset is."""
    bindings = [*self.scale.bindings.get(run.puzzle, ()), *run.bindings, f"train.seed = {run.seed}"]
    if with_data and run.puzzle in self.scale.dataset and _can_solve(run):
      bindings.append(f'DATASET = "{self._dataset(run.puzzle).data_dir}"')
    return bindings

  def command(self, run: Run | Released) -> list[str]:
    """The command that trains a run."""
    if isinstance(run, Released):
      config = f"gin/cpu/released/{run.puzzle}_{run.method}.gin"
      return ["crtr-train", f"--run_dir=runs/{run.name}", f"--gin_file={config}"]
    return [
      "crtr-train",
      f"--run_dir={self.run_dir(run)}",
      *(f"--gin_file={name}" for name in self.config_files(run)),
      *(f"--gin_bindings={binding}" for binding in self.bindings(run)),
    ]

  def estimate(self, tasks: Sequence[Task]) -> tuple[int, float]:
    """How many of the tasks and of the runs below them are to be done, and their seconds."""
    needed = {trained_by(task) for task in tasks} | set(tasks)
    missing = [task for task in needed if not self.is_done(task)]
    seconds = sum(
      self.scale.run_seconds if isinstance(task, Run) else self.scale.search_seconds
      for task in missing
    )
    return len(missing), seconds

  def load(self, run: Run | Released) -> export.ExportedModel:
    """The model of a run."""
    return export.load(self._trained(run).model_dir)

  def _trained(self, run: Run | Released) -> Trained:
    run_dir, done = self.run_dir(run), self.path(run)
    if isinstance(run, Released):
      return Trained(run_dir, done, _read_metrics(done / export.HISTORY))
    if not done.exists():
      self._prepare(run.puzzle)
      self._say(f"{describe(run)} ...")
      self._train(run)
      if _can_solve(run):
        settings = export.SolverSettings(**self.scale.settings(run.puzzle))
        runs.export_run(run_dir, done, settings, jit_compile=self.scale.jit_compile)
      else:
        done.touch()
      self._forget_graphs()
    model_dir = done if _can_solve(run) else None
    return Trained(run_dir, model_dir, _read_metrics(run_dir / run_directory.METRICS))

  def _train(self, run: Run) -> None:
    run_dir = self.run_dir(run)
    if self._in_process:
      finished = runs.train_run(run_dir, self.config_files(run), self.bindings(run)).finished
    else:
      command = self.command(run)
      run_dir.mkdir(parents=True, exist_ok=True)
      run_directory.write_atomically(run_dir / "command.txt", shlex.join(command) + "\n")
      module = [sys.executable, "-m", "crtr_tf.cli.train", *command[1:]]
      finished = subprocess.run(module, stdout=subprocess.DEVNULL).returncode == 0
    if not finished:
      raise RuntimeError(f"the training in {run_dir} did not finish; the same command goes on.")

  def _prepare(self, puzzle: str) -> None:
    """Makes the dataset that runs of a puzzle read, if they read one."""
    if puzzle in self.scale.dataset and puzzle in puzzles.PUZZLES:
      builder = self._dataset(puzzle)
      if not pathlib.Path(builder.data_dir).exists():
        self._say(f"building the dataset {builder.info.full_name} ...")
        with contextlib.redirect_stdout(sys.stderr):  # What TFDS prints is progress, not a result.
          builder.download_and_prepare()

  def _dataset(self, puzzle: str) -> tfds.core.DatasetBuilder:
    if puzzle not in self._builders:
      config = self.scale.dataset[puzzle]
      if not isinstance(config, str):
        config = crtr_tf.datasets.PuzzleConfig(name=f"{self.scale.name}_scale", **config)
      data_dir = self.directory.resolve() / "data"
      self._builders[puzzle] = dataset_builder(puzzle, config=config, data_dir=data_dir)
    return self._builders[puzzle]

  def _settings(self, task: Search) -> dict[str, Any]:
    if isinstance(task.run, Released):
      return dict(task.settings)
    return {**self.scale.settings(task.run.puzzle), **dict(task.settings)}

  def _num_instances(self, task: Search) -> int:
    return task.num_instances or self.scale.num_instances

  def _difficulty(self, task: Search) -> dict[str, Any]:
    if isinstance(task.run, Released):
      return dict(task.difficulty)
    return {**dict(self.scale.difficulty.get(task.run.puzzle, ())), **dict(task.difficulty)}

  def _search(self, task: Search) -> dict[str, Any]:
    model_dir = self._trained(task.run).model_dir
    trained_for = export.Metadata.read(model_dir).make_puzzle()
    parameters = {**puzzles.parameters(trained_for), **self._difficulty(task)}
    puzzle = type(trained_for)(**parameters)
    job = bulk.Job(
      str(model_dir),
      tuple(sorted(self._settings(task).items())),
      jit_compile=self.scale.jit_compile,
    )
    instances = evaluate.generated_instances(puzzle, self._num_instances(task), _INSTANCE_SEED)
    solved = evaluate.Solved.of(bulk.solve_pieces(job, instances), puzzle)
    bulk.solver_of.cache_clear()
    return {
      name: value.tolist() if isinstance(value, np.ndarray) else value
      for name, value in dataclasses.asdict(solved).items()
    }

  def _measure(self, task: Measure) -> dict[str, Any]:
    model = self.load(task.run)
    source = data.simulated_trajectories(model.puzzle, "test")
    return evaluate.represent(model, source, self.scale.num_trajectories, _INSTANCE_SEED)[0]

  def _forget_graphs(self) -> None:
    """A reproduction makes hundreds of models; none is needed once its outcome is written."""
    if not self._in_process:
      keras.backend.clear_session()
      gc.collect()


def dataset_builder(name: str, **kwargs: Any) -> tfds.core.DatasetBuilder:
  """`tfds.builder` without warnings of configs of our own and of datasets that are not there."""
  verbosity = logging.get_verbosity()
  logging.set_verbosity(logging.ERROR)
  try:
    return tfds.builder(name, **kwargs)
  finally:
    logging.set_verbosity(verbosity)


def trained_by(task: Task) -> Run | Released:
  """What a task needs to be trained, which may be itself."""
  return task.run if isinstance(task, Search | Measure) else task


def describe(task: Task) -> str:
  """One line for people."""
  what = {Run: "training", Search: "searching with", Measure: "measuring"}.get(type(task), "using")
  settings = f" {dict(task.settings)}" if isinstance(task, Search) and task.settings else ""
  return f"{what} {trained_by(task)}{settings}"


def _can_solve(run: Run) -> bool:
  """Whether there is a puzzle, and so a model to export."""
  return run.puzzle in puzzles.PUZZLES


def _solved_from(record: dict[str, Any]) -> evaluate.Solved:
  arrays = {
    name: np.array(value) if isinstance(value, list) else value for name, value in record.items()
  }
  return evaluate.Solved(**arrays)


def _read_metrics(path: pathlib.Path) -> dict[str, tuple[list[int], list[float]]]:
  metrics: dict[str, tuple[list[int], list[float]]] = {}
  with open(path, newline="") as file:
    for row in csv.DictReader(file):
      steps, values = metrics.setdefault(row["metric"], ([], []))
      steps.append(int(row["step"]))
      values.append(float(row["value"]))
  return metrics
