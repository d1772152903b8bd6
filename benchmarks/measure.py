"""Timing and the record of one measurement."""

import dataclasses
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Measurement:
  """One row of the table: a goal such as ">= 5" is checked against the value."""

  name: str
  value: float | int | str
  unit: str
  goal: str | None = None

  @property
  def holds(self) -> bool | None:
    if self.goal is None:
      return None
    relation, bound = self.goal.split()
    return {">=": self.value >= float(bound), "<=": self.value <= float(bound)}[relation]

  def as_json(self) -> dict[str, object]:
    return {**dataclasses.asdict(self), "holds": self.holds}


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
  """Median time of one call, after one call that compiles and warms up."""
  wait(function())
  times = []
  for _ in range(repeats):
    start = time.perf_counter()
    wait(function())
    times.append(time.perf_counter() - start)
  return statistics.median(times)


def wait(result: object) -> None:
  """Blocks until every tensor of a result has been computed."""
  for part in tf.nest.flatten(result):
    if isinstance(part, tf.Tensor):
      np.asarray(part)


def machine_facts() -> list[Measurement]:
  """What the numbers were measured on, as rows without a goal."""
  return [
    Measurement("machine: cores", len(os.sched_getaffinity(0)), "cores"),
    Measurement("machine: processor", _processor_name(), ""),
    Measurement("machine: accelerators", len(tf.config.list_physical_devices("GPU")), "GPUs"),
    Measurement("machine: Python", platform.python_version(), ""),
    Measurement("machine: TensorFlow", tf.__version__, ""),
  ]


def _processor_name() -> str:
  try:
    with open("/proc/cpuinfo") as lines:
      return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
  except (OSError, StopIteration):
    return platform.processor() or "unknown"
