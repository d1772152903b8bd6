"""crtr-train as users meet it: killed, stopped, resumed, distributed, refused."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

SMALL = (
  "LightsOut.height = 3",
  "LightsOut.width = 3",
  "LightsOut.trajectory_moves = 6",
  "dense_encoder.width = 32",
  "train.batch_size = 64",
  "train.num_held_out = 10",
  "train.evaluators = ()",
  "adam.warmup_steps = 5",
)
LONG = (*SMALL, "train.num_steps = 800", "train.checkpoint_every = 50", "train.log_every = 100")
CONV = ("ENCODER = @conv_encoder", "conv_encoder.width = 8", "conv_encoder.depth = 2")


def start(run_dir: pathlib.Path, bindings: tuple[str, ...], **env: str) -> subprocess.Popen:
  command = [sys.executable, "-m", "crtr_tf.cli.train", f"--run_dir={run_dir}"]
  command += ["--gin_file=gin/cpu/lights_out_crtr.gin"]
  command += [f"--gin_bindings={binding}" for binding in bindings]
  return subprocess.Popen(
    command,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **env},
  )


def finish(process: subprocess.Popen, code: int = 0) -> tuple[str, str]:
  out, err = process.communicate(timeout=300)
  assert process.returncode == code, f"exit code {process.returncode}:\n{out}\n{err}"
  return out, err


def run(run_dir: pathlib.Path, bindings: tuple[str, ...], code: int = 0, **env: str):
  return finish(start(run_dir, bindings, **env), code)


def final_weights(run_dir: pathlib.Path) -> dict[str, np.ndarray]:
  """All saved numbers of the last checkpoint: weights, optimizer, statistics, step."""
  reader = tf.train.load_checkpoint(str(run_dir / "checkpoints"))
  names = reader.get_variable_to_shape_map()
  # A run that was stopped has been saved once more.
  apart = ("_CHECKPOINTABLE_OBJECT_GRAPH", "save_counter/.ATTRIBUTES/VARIABLE_VALUE")
  return {name: reader.get_tensor(name) for name in names if name not in apart}


def wait_for_checkpoint(process: subprocess.Popen, run_dir: pathlib.Path) -> None:
  deadline = time.monotonic() + 200
  while not list((run_dir / "checkpoints").glob("step-*.index")):
    assert process.poll() is None, process.communicate()
    assert time.monotonic() < deadline, "no checkpoint appeared"
    time.sleep(0.01)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
  run_dir = tmp_path_factory.mktemp("runs") / "uninterrupted"
  run(run_dir, LONG)
  return run_dir


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_run_goes_on_to_the_same_bits(
  number: signal.Signals, uninterrupted: pathlib.Path, tmp_path: pathlib.Path
):
  process = start(tmp_path, LONG)
  wait_for_checkpoint(process, tmp_path)
  process.send_signal(number)
  if number == signal.SIGKILL:
    finish(process, -number)
  else:
    out, _ = finish(process)
    assert "the same command goes on from there" in out
  steps = [int(p.stem.split("-")[1]) for p in (tmp_path / "checkpoints").glob("step-*.index")]
  assert max(steps) < 800, "the run was over before the signal"
  out, _ = run(tmp_path, LONG)
  assert "trained 800 steps" in out
  ours, theirs = final_weights(tmp_path), final_weights(uninterrupted)
  assert ours.keys() == theirs.keys()
  for name in theirs:
    np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
  logged = np.genfromtxt(tmp_path / "metrics.csv", delimiter=",", names=True, dtype=None)
  losses = logged["step"][logged["metric"] == "loss"]
  assert losses.tolist() == list(range(100, 801, 100)), "each window is logged once"


def test_a_finished_run_is_not_run_again(uninterrupted: pathlib.Path):
  before = sorted(p.stat().st_mtime for p in (uninterrupted / "checkpoints").iterdir())
  out, _ = run(uninterrupted, LONG)
  assert "trained 800 steps" in out
  assert sorted(p.stat().st_mtime for p in (uninterrupted / "checkpoints").iterdir()) == before


def test_another_configuration_is_refused_with_the_difference(uninterrupted: pathlib.Path):
  _, err = run(uninterrupted, (*LONG, "train.batch_size = 32"), code=2)
  (line,) = [line for line in err.splitlines() if line.startswith("error:")]
  assert "belongs to a run with another configuration" in line
  assert "-train.batch_size = 64" in line and "+train.batch_size = 32" in line


REFUSALS = {
  "unknown name": (("train.num_step = 3",), "num_step"),
  "replicas": (
    ("make_strategy.num_cpu_devices = 3",),
    "divisible by num_replicas * repetition_factor",
  ),
  "no such dataset": (
    ("train.trajectories = @tfds_trajectories()", "tfds_trajectories.puzzle = %PUZZLE",
     "tfds_trajectories.directory = '/nowhere'"),
    "no dataset directory /nowhere",
  ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_work_is_refused_in_one_line(name: str, tmp_path: pathlib.Path):
  bindings, message = REFUSALS[name]
  _, err = run(tmp_path / "run", (*SMALL, *bindings), code=2)
  assert "Traceback" not in err
  (line,) = [line for line in err.splitlines() if line.startswith("error:")]
  assert message in line


def free_ports(count: int) -> list[int]:
  sockets = [socket.socket() for _ in range(count)]
  for one in sockets:
    one.bind(("localhost", 0))
  ports = [one.getsockname()[1] for one in sockets]
  for one in sockets:
    one.close()
  return ports


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["dense", "batch_norm"])
def test_one_replica_two_replicas_and_two_workers_agree(encoder: str, tmp_path: pathlib.Path):
  bindings = (
    *SMALL,
    "train.num_steps = 20",
    "adam.learning_rate = 1e-3",
    "train.jit_compile = False",
    # With an l2 metric nothing changes when all embeddings move alike: the gradient of the last
    # biases is rounding noise, which Adam blows up to steps of full length.
    'ContrastiveMethod.metric = "dot"',
  )
  bindings += CONV if encoder == "batch_norm" else ()
  run(tmp_path / "one", bindings)
  run(tmp_path / "two", (*bindings, "make_strategy.num_cpu_devices = 2"))
  workers = [f"localhost:{port}" for port in free_ports(2)]
  processes = []
  for index in range(2):
    cluster = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
    processes.append(start(tmp_path / "workers", bindings, TF_CONFIG=json.dumps(cluster)))
  for process in processes:
    finish(process)
  one, two, workers = (final_weights(tmp_path / name) for name in ("one", "two", "workers"))
  weights = [name for name in one if name.startswith("weights/")]
  assert len(weights) > 10
  for name in weights:
    np.testing.assert_allclose(two[name], one[name], atol=1e-5, err_msg=name)
    np.testing.assert_allclose(workers[name], one[name], atol=1e-5, err_msg=name)
