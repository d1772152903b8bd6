"""However a dataset is built, it is the same; and it is there completely or not at all."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
import types

import pytest
import tensorflow_datasets as tfds

import crtr_tf.datasets
from crtr_tf import puzzles
from crtr_tf.datasets import PuzzleConfig, execution, shards

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUZZLE = puzzles.LightsOut(4, 4, 5)  # Nothing to compile: processes start to work at once.
CONFIG = PuzzleConfig(name="lot", puzzle=PUZZLE, num_train=50, num_test=7, episodes_per_shard=10)


def _builder(folder: pathlib.Path, config: PuzzleConfig = CONFIG) -> tfds.core.DatasetBuilder:
  return tfds.builder("lights_out", config=config, data_dir=folder)


def _files(folder: pathlib.Path) -> dict[str, bytes]:
  return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _run(code: str, **kwargs) -> subprocess.CompletedProcess:
  command = [sys.executable, "-c", textwrap.dedent(code)]
  return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
  """The files of a dataset that was built in this process."""
  folder = tmp_path_factory.mktemp("serial")
  builder = _builder(folder)
  builder.download_and_prepare()
  assert builder.info.splits["train"].shard_lengths == [10] * 5
  assert builder.info.splits["test"].shard_lengths == [7]
  assert builder.info.dataset_size == sum(
    len(content) for name, content in _files(folder).items() if "tfrecord" in name
  )
  return _files(folder)


def test_processes_build_the_same(tmp_path, serial, monkeypatch):
  monkeypatch.setattr(execution, "SECONDS_WORTH_PROCESSES", 0.0)
  monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
  # A script without `if __name__ == "__main__":`, which must not be run again in each process.
  script = tmp_path / "script.py"
  script.write_text(f"open({str(tmp_path / 'run_again')!r}, 'w')")
  main = types.ModuleType("__main__")
  main.__file__ = str(script)
  monkeypatch.setitem(sys.modules, "__main__", main)
  environment = dict(os.environ)
  _builder(tmp_path / "data").download_and_prepare()
  assert _files(tmp_path / "data") == serial
  assert not (tmp_path / "run_again").exists()
  assert sys.modules["__main__"] is main and os.environ == environment


def test_a_puzzle_of_the_script_itself_is_built_without_processes(tmp_path, serial, monkeypatch):
  class ScriptLights(puzzles.LightsOut):
    __module__ = "__main__"

  monkeypatch.setattr(execution, "SECONDS_WORTH_PROCESSES", 0.0)
  config = PuzzleConfig(**{**vars(CONFIG), "puzzle": ScriptLights(4, 4, 5)})
  _builder(tmp_path, config).download_and_prepare()
  assert _files(tmp_path) == serial


def test_beam_builds_the_same(tmp_path, serial):
  beam = pytest.importorskip("apache_beam")
  in_memory = beam.options.pipeline_options.PipelineOptions(["--direct_running_mode=in_memory"])
  config = tfds.download.DownloadConfig(beam_options=in_memory)
  _builder(tmp_path).download_and_prepare(download_config=config)
  assert _files(tmp_path) == serial


@pytest.mark.slow
def test_beam_in_processes_builds_the_same(tmp_path, serial):
  pytest.importorskip("apache_beam")
  config = PuzzleConfig(**{**vars(CONFIG), "use_beam": True})
  _builder(tmp_path, config).download_and_prepare()
  assert _files(tmp_path) == serial


def test_missing_beam_names_the_extra(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, "apache_beam", None)
  with pytest.raises(ImportError, match=r"^building .* pip install 'crtr_tf\[beam\]'$"):
    execution.run_with_beam([])


def _template(folder: pathlib.Path = pathlib.Path()) -> tfds.core.ShardedFileTemplate:
  return tfds.core.ShardedFileTemplate(
    data_dir=folder, dataset_name="some", split="train", filetype_suffix="tfrecord"
  )


@pytest.mark.parametrize(("chunk", "per_shard"), [(1, 7), (4, 10), (64, 50)])
def test_chunks_and_shards_do_not_change_episodes(tmp_path, chunk, per_shard):
  def write(chunk: int, per_shard: int) -> bytes:
    template = _template(tmp_path / f"{chunk}_{per_shard}")
    template.data_dir.mkdir()
    tasks = shards.plan_shards(PUZZLE, 3, 50, per_shard, chunk, template, "tfrecord")
    for task in tasks:
      shards.write_shard(task)
    return b"".join(pathlib.Path(task.path).read_bytes() for task in tasks)

  assert write(chunk, per_shard) == write(50, 50)


def test_shards_are_of_reasonable_size():
  for puzzle in (puzzles.RubiksCube(), puzzles.DigitJumper()):
    chunk = shards.chunk_size(puzzle)
    (task, *_) = shards.plan_shards(puzzle, 0, 10**6, None, chunk, _template(), "tfrecord")
    largest = task.num_episodes * crtr_tf.datasets.episodes.largest_record(puzzle)
    assert shards.SHARD_BYTES / 2 < largest <= shards.SHARD_BYTES
    assert task.num_episodes % chunk == 0


def test_a_failing_build_leaves_nothing_that_looks_complete(tmp_path, serial, monkeypatch):
  write_shard, written = shards.write_shard, []

  def fail_late(task: shards.ShardTask) -> None:
    if len(written) == 3:
      raise OSError("disk full")
    written.append(task.path)
    write_shard(task)

  monkeypatch.setattr(shards, "write_shard", fail_late)
  with pytest.raises(OSError, match="disk full"):
    _builder(tmp_path).download_and_prepare()
  assert len(written) == 3
  assert not list(tmp_path.rglob("*tfrecord*")) and not _builder(tmp_path).is_prepared()
  monkeypatch.undo()
  _builder(tmp_path).download_and_prepare()
  assert _files(tmp_path) == serial


@pytest.mark.slow
def test_a_killed_build_leaves_nothing_that_looks_complete(tmp_path):
  code = f"""
    import os
    os.sched_getaffinity = lambda _: {{0, 1}}
    import tensorflow_datasets as tfds
    from crtr_tf.datasets import PuzzleConfig, execution
    execution.SECONDS_WORTH_PROCESSES = 0.0
    config = PuzzleConfig(name="endless", num_train=10**7, num_test=1, episodes_per_shard=2000)
    tfds.builder("lights_out", config=config, data_dir={str(tmp_path)!r}).download_and_prepare()
    """
  build = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], start_new_session=True)
  try:
    _wait_until(lambda: list(tmp_path.rglob("lights_out-train*")), "the first shard")
    build.kill()
    build.wait()
    _wait_until(lambda: not _is_running(build.pid), "the end of the workers")
  finally:
    if _is_running(build.pid):
      os.killpg(build.pid, signal.SIGKILL)
  endless = PuzzleConfig(name="endless", num_train=10**7, num_test=1)
  builder = _builder(tmp_path, endless)
  assert not builder.is_prepared() and not builder.data_path.exists()
  two = tfds.download.DownloadConfig(max_examples_per_split=2)
  builder.download_and_prepare(download_config=two)
  assert _builder(tmp_path, endless).info.splits["train"].num_examples == 2


def _is_running(process_group: int) -> bool:
  try:
    os.killpg(process_group, 0)
  except ProcessLookupError:
    return False
  return True


def _wait_until(condition, what: str, seconds: float = 120.0) -> None:
  deadline = time.monotonic() + seconds
  while not condition():
    assert time.monotonic() < deadline, f"waited in vain for {what}"
    time.sleep(0.1)


@pytest.mark.slow
def test_a_prepared_directory_needs_no_crtr_tf(tmp_path):
  builder = _builder(tmp_path)
  builder.download_and_prepare()
  read = _run(
    f"""
    import sys
    sys.modules["crtr_tf"] = None  # importing it raises
    import tensorflow_datasets as tfds
    builder = tfds.builder_from_directory({builder.data_dir!r})
    for episode in builder.as_dataset(split="test"):
      states = [step["observation"] for step in episode["steps"]]
      assert len(states) == 6 and states[0].shape == (16,)
    print(builder.info.metadata["puzzle"]["name"])
    """,
    cwd=tmp_path,
  )
  assert read.stdout == "lights_out\n", read.stderr


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "datasets").is_dir(), reason="runs from a checkout")
def test_tfds_build_from_the_checkout(tmp_path):
  config = '{"name": "mini", "puzzle": {"height": 3, "width": 3}, "num_train": 4, "num_test": 2}'
  command = ["build", "datasets/lights_out", f"--config={config}", f"--data_dir={tmp_path}"]
  built = subprocess.run(
    [sys.executable, "-m", "tensorflow_datasets.scripts.cli.main", *command],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=False,
  )
  assert built.returncode == 0, built.stderr
  builder = tfds.builder_from_directory(tmp_path / "lights_out" / "mini" / "1.0.0")
  assert builder.info.splits["train"].num_examples == 4
  assert builder.info.metadata["puzzle"]["board_shape"] == [3, 3]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "datasets").is_dir(), reason="runs from a checkout")
def test_importing_a_builder_under_two_names_registers_it_once():
  imported = _run(
    """
    import sys
    import crtr_tf.datasets
    assert "tensorflow" not in sys.modules, "importing the builders takes as long as TensorFlow"
    import tensorflow_datasets as tfds
    from datasets.rubiks_cube import rubiks_cube_dataset_builder as again
    registered = tfds.builder_cls("rubiks_cube")
    assert registered is crtr_tf.datasets.BUILDERS["rubiks_cube"] is not again.Builder
    """,
    cwd=ROOT,
  )
  assert imported.returncode == 0, imported.stderr
