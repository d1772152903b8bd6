"""What happens beside the training steps: logs, checkpoints, evaluation, progress, stopping.

A run is one long Keras epoch. Everything here is tied to the number of steps done since the run
began, so nothing changes when the run is stopped and resumed in between.
"""

import csv
import io
import math
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping

import keras
import tensorflow as tf
from matplotlib import figure

from crtr_tf.training import run_directory
from crtr_tf.training.checkpoints import Checkpoints


class TrainingError(RuntimeError):
  """Training cannot go on; the message says at which step and what to do."""


class StepCallback(keras.callbacks.Callback):
  """Counts steps since the run began.

  Args:
    first_step: steps done before this process took over.
    last_step: where the run ends.
    every: `at_step` is called when a multiple of this is reached or passed, and at the end.
  """

  def __init__(self, first_step: int, last_step: int, every: int = 1):
    super().__init__()
    self.step = first_step
    self.first_step = first_step
    self.last_step = last_step
    self._every = every

  def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
    before, self.step = self.step, self.first_step + batch + 1
    if self.step // self._every > before // self._every or self.step == self.last_step:
      self.at_step(self.step, logs or {})

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    raise NotImplementedError


class StopOnNan(StepCallback):
  """Ends the run at once when the loss or its gradient is no number, before anything is saved."""

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    for name in ("loss", "gradient_norm"):
      value = float(logs[name])
      if not math.isfinite(value):
        raise TrainingError(
          f"the {name} is {value} at step {step}; the last checkpoint before it is kept. "
          "Try a smaller learning rate or a higher temperature."
        )


class MetricsLog:
  """Scalars as `metrics.csv` (step, metric, value) and for TensorBoard, pictures for the latter.

  Args:
    run_dir: of the run.
    first_step: rows of later steps, from a process that was killed, are dropped.
  """

  def __init__(self, run_dir: pathlib.Path, first_step: int):
    self._path = run_dir / run_directory.METRICS
    rows = [["step", "metric", "value"]]
    if self._path.exists():
      with open(self._path, newline="") as file:
        rows += [row for row in list(csv.reader(file))[1:] if int(row[0]) <= first_step]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    run_directory.write_atomically(self._path, text.getvalue())
    self._summaries = tf.summary.create_file_writer(str(run_dir / run_directory.LOGS))

  def scalars(self, step: int, values: Mapping[str, float]) -> None:
    with open(self._path, "a", newline="") as file:
      csv.writer(file, lineterminator="\n").writerows(
        [step, name, repr(float(value))] for name, value in values.items()
      )
    with self._summaries.as_default(step=step):
      for name, value in values.items():
        tf.summary.scalar(name, value)
    self._summaries.flush()

  def picture(self, step: int, name: str, fig: figure.Figure) -> None:
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=100)
    image = tf.io.decode_png(buffer.getvalue(), channels=4)[None]
    with self._summaries.as_default(step=step):
      tf.summary.image(name, image)


class LogMetrics(StepCallback):
  """Writes the means of the model's statistics since the last time, and starts them anew."""

  def __init__(self, log: MetricsLog, first_step: int, last_step: int, every: int):
    super().__init__(first_step, last_step, every)
    self._log = log
    self._window_start = (first_step, time.perf_counter())

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    start, since = self._window_start
    speed = (step - start) / (time.perf_counter() - since)
    values = {name: float(value) for name, value in logs.items()}
    rate = float(self.model.optimizer.learning_rate)
    self._log.scalars(step, {**values, "learning_rate": rate, "steps_per_second": speed})
    self.model.reset_metrics()
    self._window_start = (step, time.perf_counter())


class Evaluate(StepCallback):
  """Calls evaluators on the (averaged) weights, logs what they say, keeps the best checkpoint."""

  def __init__(
    self,
    evaluators: Iterable[Callable[[keras.Model], dict[str, float]]],
    pictures: Iterable[Callable[[keras.Model], dict[str, figure.Figure]]],
    log: MetricsLog,
    checkpoints: Checkpoints,
    best_metric: str | None,
    first_step: int,
    last_step: int,
    every: int,
  ):
    super().__init__(first_step, last_step, every)
    self._evaluators, self._pictures = tuple(evaluators), tuple(pictures)
    self._log = log
    self._checkpoints = checkpoints
    self._best_metric = best_metric

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    del logs
    values: dict[str, float] = {}
    with AveragedWeights(self.model):
      for evaluator in self._evaluators:
        values.update(evaluator(self.model))
      for picture in self._pictures:
        for name, fig in picture(self.model).items():
          self._log.picture(step, name, fig)
    self._log.scalars(step, values)
    if self._best_metric is not None:
      if self._best_metric not in values:
        raise TrainingError(
          f"best_metric must be one of {sorted(values)}; got {self._best_metric!r}."
        )
      self._checkpoints.save_if_best(step, values[self._best_metric])


class SaveCheckpoints(StepCallback):
  """Saves at intervals and at the end."""

  def __init__(self, checkpoints: Checkpoints, first_step: int, last_step: int, every: int):
    super().__init__(first_step, last_step, every)
    self._checkpoints = checkpoints

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    del logs
    self._checkpoints.save(step)


class StopOnSignal(StepCallback):
  """On SIGTERM or Ctrl-C: finishes the step, saves, and ends the run so that it can be resumed."""

  SIGNALS = (signal.SIGTERM, signal.SIGINT)

  def __init__(self, checkpoints: Checkpoints, first_step: int, last_step: int):
    super().__init__(first_step, last_step)
    self._checkpoints = checkpoints
    self.received: int | None = None
    self._previous: dict[int, object] = {}

  def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
    for number in self.SIGNALS:
      self._previous[number] = signal.signal(number, self._note)

  def restore_handlers(self) -> None:
    for number, handler in self._previous.items():
      signal.signal(number, handler)
    self._previous.clear()

  def _note(self, number: int, frame: object) -> None:
    if self.received is not None:
      raise KeyboardInterrupt  # asked twice: do not wait for the step
    self.received = number
    print("\nstopping after this step ...", file=sys.stderr, flush=True)

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    del logs
    if self.received is not None and not self.model.stop_training:
      self._checkpoints.save(step)
      self.model.stop_training = True


class Progress(StepCallback):
  """One line on standard error: steps done, loss, speed, time left."""

  SECONDS_BETWEEN_LINES = {True: 0.5, False: 30.0}  # on a terminal, and in a log file

  def __init__(self, first_step: int, last_step: int):
    super().__init__(first_step, last_step)
    self._on_terminal = sys.stderr.isatty()
    self._shown = 0.0

  def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
    self._began = time.perf_counter()

  def at_step(self, step: int, logs: Mapping[str, float]) -> None:
    now = time.perf_counter()
    finished = step == self.last_step
    if now - self._shown < self.SECONDS_BETWEEN_LINES[self._on_terminal] and not finished:
      return
    self._shown = now
    speed = (step - self.first_step) / (now - self._began)
    left = int((self.last_step - step) / speed)
    line = (
      f"step {step}/{self.last_step}  loss {float(logs['loss']):.4f}  {speed:.1f} steps/s  "
      f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
    )
    end = "\n" if finished or not self._on_terminal else ""
    print(("\r\033[K" if self._on_terminal else "") + line, end=end, file=sys.stderr, flush=True)


class AveragedWeights:
  """Within the context, the model has the moving average of its weights, if one is kept."""

  def __init__(self, model: keras.Model):
    optimizer = model.optimizer
    averages = optimizer._model_variables_moving_average if optimizer.use_ema else []
    self._pairs = [
      (variable, average)
      for variable, average in zip(optimizer._trainable_variables, averages, strict=False)
      if average is not None
    ]

  def __enter__(self) -> None:
    self._kept = [tf.identity(variable.value) for variable, _ in self._pairs]
    for variable, average in self._pairs:
      variable.assign(average)

  def __exit__(self, *_: object) -> None:
    for (variable, _), value in zip(self._pairs, self._kept, strict=True):
      variable.assign(value)
