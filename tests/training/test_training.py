"""The parts of a run, in one process."""

import csv
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import data, training
from crtr_tf.puzzles import LightsOut, RubiksCube
from crtr_tf.training import callbacks, methods, optimizers, run_directory, strategies

PUZZLE = LightsOut(3, 3, trajectory_moves=6)


def small_encoder(spec: methods.StateSpec):
  return methods.dense_encoder(spec, width=16, depth=2, representation_dim=8)


METHODS = {
  "crtr": methods.ContrastiveMethod(small_encoder),
  "crl": methods.ContrastiveMethod(small_encoder, repetition_factor=1),
  "supervised": methods.SupervisedMethod(small_encoder),
  "davi": methods.ValueIterationMethod(small_encoder),
  "random": methods.RandomMethod(small_encoder),
}


def run(run_dir: pathlib.Path, method: methods.Method = METHODS["crtr"], **options):
  settings = {
    "num_steps": 12,
    "puzzle": PUZZLE,
    "held_out": data.simulated_trajectories(PUZZLE, "test"),
    "batch_size": 16,
    "num_held_out": 8,
    "log_every": 5,
    "checkpoint_every": 4,
    "evaluate_every": 6,
    "jit_compile": False,
  }
  return training.train(
    run_dir, method, data.simulated_trajectories(PUZZLE), **{**settings, **options}
  )


def logged(run_dir: pathlib.Path) -> dict[str, list[int]]:
  steps: dict[str, list[int]] = {}
  with open(run_dir / "metrics.csv") as file:
    for row in csv.DictReader(file):
      assert np.isfinite(float(row["value"]))
      steps.setdefault(row["metric"], []).append(int(row["step"]))
  return steps


@pytest.mark.parametrize("name", METHODS)
def test_every_method_trains_and_gives_distances(name: str, tmp_path: pathlib.Path):
  result = run(tmp_path, METHODS[name])
  assert METHODS[name].name == name
  assert result.finished and result.step == (0 if name == "random" else 12)
  states = PUZZLE.instances(0, tf.range(5, dtype=tf.int64))
  distances = result.model.distance(states, PUZZLE.goal(states))
  assert distances.shape == (5,) and distances.dtype == tf.float32
  assert "held_out_spearman" in logged(tmp_path)


def test_logs_evaluations_and_checkpoints_come_at_their_steps(tmp_path: pathlib.Path):
  run(tmp_path)
  steps = logged(tmp_path)
  for name in ("loss", "accuracy_backward", "logit_in_trajectory", "gradient_norm"):
    assert steps[name] == [5, 10, 12]
  assert steps["held_out_spearman"] == [6, 12]
  saved = sorted(p.stem for p in (tmp_path / "checkpoints").glob("step-*.index"))
  assert saved == ["step-12", "step-4", "step-8"]
  events = list((tmp_path / "logs").glob("events.*"))
  tags = {
    value.tag
    for event in tf.compat.v1.train.summary_iterator(str(events[0]))
    for value in event.summary.value
  }
  assert {"loss", "held_out_spearman", "distances", "embeddings"} <= tags


@pytest.mark.parametrize("cut", [0, 40, 0.5])
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(
  cut: float, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
):
  run(tmp_path / "whole")
  run(tmp_path / "damaged")
  (newest,) = (tmp_path / "damaged" / "checkpoints").glob("step-12.data*")
  content = newest.read_bytes()
  newest.write_bytes(content[: int(cut * len(content)) if cut < 1 else cut])
  caplog.set_level("WARNING")
  again = run(tmp_path / "damaged")
  assert "step-12 is damaged" in caplog.text
  for ours, theirs in zip(again.model.weights, run(tmp_path / "whole").model.weights, strict=True):
    np.testing.assert_array_equal(ours, theirs)


def test_a_run_without_a_readable_checkpoint_is_refused(tmp_path: pathlib.Path):
  run(tmp_path)
  for path in (tmp_path / "checkpoints").glob("*.data*"):
    path.write_bytes(b"")
  with pytest.raises(ValueError, match="none of the 3 checkpoints"):
    run(tmp_path)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: pathlib.Path):
  class NanAfterSix(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step: tf.Tensor) -> tf.Tensor:
      return tf.where(step < 6, 1e-3, float("nan"))

  def explosive(num_steps: int) -> keras.optimizers.Optimizer:
    return keras.optimizers.Adam(NanAfterSix())

  with pytest.raises(training.TrainingError, match=r"the loss is nan at step 8; .* is kept"):
    run(tmp_path, optimizer=explosive, checkpoint_every=3)
  saved = sorted(p.stem for p in (tmp_path / "checkpoints").glob("step-*.index"))
  assert saved == ["step-3", "step-6"]


def test_the_best_checkpoint_is_kept_apart(tmp_path: pathlib.Path):
  values = iter([0.3, 0.9, 0.5])
  run(
    tmp_path,
    evaluate_every=4,
    evaluators=[lambda model: {"score": next(values)}],
    best_metric="score",
  )
  assert [p.stem for p in (tmp_path / "checkpoints" / "best").glob("*.index")] == ["step-8"]
  with pytest.raises(training.TrainingError, match=r"best_metric must be one of .* got 'rank'"):
    run(tmp_path / "other", best_metric="rank")


def test_averaged_weights_are_used_for_evaluation_and_kept_out_of_training(tmp_path: pathlib.Path):
  seen = []

  def spy(model: keras.Model) -> dict[str, float]:
    seen.append([np.array(w) for w in model.trainable_variables])
    return {}

  def averaged(num_steps: int) -> keras.optimizers.Optimizer:
    return optimizers.adam(num_steps, 1e-2, ema_momentum=0.9)

  def plain(num_steps: int) -> keras.optimizers.Optimizer:
    return optimizers.adam(num_steps, 1e-2)

  with_average = run(tmp_path / "ema", optimizer=averaged, evaluators=[spy])
  without = run(tmp_path / "plain", optimizer=plain, evaluators=[spy])
  at_six, at_end, plain_six, plain_end = seen
  assert any((a != b).any() for a, b in zip(at_six, plain_six, strict=True))
  for average, final in zip(at_end, with_average.model.trainable_variables, strict=True):
    np.testing.assert_array_equal(average, final)
  for spied, final in zip(plain_end, without.model.trainable_variables, strict=True):
    np.testing.assert_array_equal(spied, final)
  # Training itself goes on from the weights, not from their average.
  reader = tf.train.load_checkpoint(str(tmp_path / "ema" / "checkpoints"))
  other = tf.train.load_checkpoint(str(tmp_path / "plain" / "checkpoints"))
  name = next(n for n in other.get_variable_to_shape_map() if n.startswith("weights/0/"))
  np.testing.assert_array_equal(reader.get_tensor(name), other.get_tensor(name))
  again = run(tmp_path / "ema", optimizer=averaged)
  for ours, theirs in zip(again.model.weights, with_average.model.weights, strict=True):
    np.testing.assert_array_equal(ours, theirs)


def test_rows_of_a_killed_process_are_dropped_from_the_log(tmp_path: pathlib.Path):
  log = callbacks.MetricsLog(tmp_path, 0)
  for step in (1, 2, 3):
    log.scalars(step, {"loss": step / 2})
  callbacks.MetricsLog(tmp_path, 2)
  assert (tmp_path / "metrics.csv").read_text() == "step,metric,value\n1,loss,0.5\n2,loss,1.0\n"


def test_a_directory_belongs_to_one_configuration(tmp_path: pathlib.Path):
  run_directory.claim(tmp_path / "run", "a = 1\nb = 2\n")
  run_directory.claim(tmp_path / "run", "a = 1\nb = 2\n")
  with pytest.raises(run_directory.RunDirectoryError, match=r"\(-b = 2; \+b = 3\)"):
    run_directory.claim(tmp_path / "run", "a = 1\nb = 3\n")


def test_bad_strategies_are_refused(monkeypatch: pytest.MonkeyPatch):
  monkeypatch.delenv("TF_CONFIG", raising=False)
  with pytest.raises(ValueError, match=r"strategy must be one of .* got 'tpu'"):
    strategies.make_strategy("tpu")
  with pytest.raises(ValueError, match="needs the environment variable TF_CONFIG"):
    strategies.make_strategy("multi_worker")


def test_encoders_fit_their_states():
  board = methods.StateSpec.of(None, PUZZLE)
  cube = methods.StateSpec.of(None, RubiksCube())
  assert methods.conv_encoder(board, width=4, depth=2)(tf.zeros([2, 9], tf.uint8)).shape == (2, 64)
  with pytest.raises(ValueError, match="needs states that are boards; got states of 54 values"):
    methods.conv_encoder(cube)


def test_methods_refuse_what_they_lack():
  spec = methods.StateSpec(9, None, None, None)
  with pytest.raises(ValueError, match="num_bins must be given"):
    METHODS["supervised"].make_model(spec, None)
  with pytest.raises(ValueError, match="got no puzzle"):
    METHODS["davi"].make_model(spec, None)
