"""Ways to work off shard tasks: in this process, in several, or with Apache Beam.

All of them write the same files; a task that fails makes the whole run fail.
"""

import contextlib
import multiprocessing
import os
import sys
import threading
import time
import types
from collections.abc import Iterator, Sequence
from concurrent import futures
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from etils import epath
from tensorflow_datasets.core import utils as tfds_utils

from crtr_tf.datasets import shards

if TYPE_CHECKING:
  import apache_beam as beam
  from apache_beam.options import pipeline_options

# Starting processes takes about ten seconds, most of it for importing TensorFlow and compiling the
# generator again, so less work than this is done sooner without them.
SECONDS_WORTH_PROCESSES = 30.0
POLL_SECONDS = 2.0


def run_locally(tasks: Sequence[shards.ShardTask]) -> None:
  """Works off all tasks on this machine: here, and in processes as soon as that pays."""
  num_processes = _num_useful_processes(tasks)
  with _progress(tasks) as bar:
    for number, task in enumerate(tasks, start=1):
      started = time.monotonic()
      shards.write_shard(task)
      bar.update(task.num_episodes)
      seconds_left = (time.monotonic() - started) * (len(tasks) - number)
      # The first shard takes longer than the others, as it also compiles the generator.
      if number > 1 and num_processes > 1 and seconds_left > SECONDS_WORTH_PROCESSES:
        _run_in_processes(tasks[number:], num_processes, bar)
        return


def _num_useful_processes(tasks: Sequence[shards.ShardTask]) -> int:
  if any(task.puzzle_class.__module__ == "__main__" for task in tasks):
    return 1  # Other processes could not import the puzzle, see `_main_module_hidden`.
  # On Linux a container may have fewer cores than the machine.
  return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_processes(tasks: Sequence[shards.ShardTask], num_processes: int) -> None:
  """Works off all tasks in new processes of this machine."""
  with _progress(tasks) as bar:
    _run_in_processes(tasks, num_processes, bar)


def run_with_beam(
  tasks: Sequence[shards.ShardTask],
  options: "pipeline_options.PipelineOptions | None" = None,
  runner: "beam.runners.PipelineRunner | str | None" = None,
) -> None:
  """Works off all tasks in a Beam pipeline; by default in processes of this machine."""
  beam = _import_beam()
  standard_options = beam.options.pipeline_options.StandardOptions
  if options is None:
    flags = ["--direct_running_mode=multi_processing", "--direct_num_workers=0"]  # 0: all cores
    options = beam.options.pipeline_options.PipelineOptions(flags)
  if runner is None and options.view_as(standard_options).runner in (None, "DirectRunner"):
    # Of late "DirectRunner" means Prism if that can be downloaded, which does not start processes.
    runner = "FnApiRunner"
  with (
    _progress(tasks) as bar,
    _watching_files(tasks, bar),
    _modest_children(),
    beam.Pipeline(runner=runner, options=options) as pipeline,
  ):
    _ = (
      pipeline
      | "Shards" >> beam.Create(tasks)
      | "Spread" >> beam.Reshuffle()  # or one worker would get them all
      | "Write" >> beam.Map(shards.write_shard)
    )


def _import_beam() -> types.ModuleType:
  try:
    import apache_beam
  except ImportError as error:
    raise ImportError(
      "building this dataset needs Apache Beam; install it with: pip install 'crtr_tf[beam]'"
    ) from error
  return apache_beam


def _run_in_processes(tasks: Sequence[shards.ShardTask], num_processes: int, bar: Any) -> None:
  pool = futures.ProcessPoolExecutor(
    min(num_processes, len(tasks)),
    mp_context=multiprocessing.get_context("spawn"),  # a forked TensorFlow hangs
    initializer=_start_worker,
  )
  try:
    with _modest_children(), _main_module_hidden():
      running = {pool.submit(shards.write_shard, task): task for task in tasks}
    for future in futures.as_completed(running):
      future.result()
      bar.update(running[future].num_episodes)
  finally:
    pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
  threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
  """A worker whose parent was killed would wait for tasks for ever."""
  connection.wait([multiprocessing.parent_process().sentinel])
  os._exit(1)


@contextlib.contextmanager
def _modest_children() -> Iterator[None]:
  """Processes started inside use one TensorFlow thread each, and no accelerator."""
  import tensorflow as tf

  tf.config.list_logical_devices()  # This process sets up its own threads and devices first.
  settings = {
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "-1",
  }
  before = {name: os.environ[name] for name in settings if name in os.environ}
  os.environ.update(settings)
  try:
    yield
  finally:
    for name in settings:
      del os.environ[name]
    os.environ.update(before)


@contextlib.contextmanager
def _main_module_hidden() -> Iterator[None]:
  """Processes spawned inside do not run the caller's script again.

  They have no need to, and a script that calls `tfds.load` outside of `if __name__ == "__main__":`
  would build the dataset in every process.
  """
  main = sys.modules["__main__"]
  sys.modules["__main__"] = types.ModuleType("__main__")
  try:
    yield
  finally:
    sys.modules["__main__"] = main


def _progress(tasks: Sequence[shards.ShardTask]) -> Any:
  """A progress bar over episodes, which `tfds.disable_progress_bar` turns off."""
  total = sum(task.num_episodes for task in tasks)
  return tfds_utils.tqdm(total=total, desc="Writing episodes", unit=" episodes", unit_scale=True)


@contextlib.contextmanager
def _watching_files(tasks: Sequence[shards.ShardTask], bar: Any) -> Iterator[None]:
  """Moves the bar as files appear: Beam's workers may be on other machines."""
  finished = threading.Event()
  folder = epath.Path(tasks[0].path).parent

  def watch() -> None:
    missing = {epath.Path(task.path).name: task.num_episodes for task in tasks}
    is_last_look = False
    while not is_last_look:
      is_last_look = finished.wait(POLL_SECONDS)
      done = missing.keys() & {path.name for path in folder.iterdir()}
      bar.update(sum(missing.pop(name) for name in done))

  watcher = threading.Thread(target=watch, daemon=True)
  watcher.start()
  try:
    yield
  finally:
    finished.set()
    watcher.join()
