"""Solves any number of problems with an exported model, in one process or in several.

Problems are read as they are needed and results given back in order, piece by piece: memory does
not grow with their number.
"""

import collections
import concurrent.futures
import dataclasses
import functools
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from crtr_tf import export, search

_PIECES_AHEAD = 2  # for each process, so that none waits for the one that hands out the work


@dataclasses.dataclass(frozen=True)
class Job:
  """What the processes have to agree on.

  Attributes:
    model: released name or directory.
    settings: that differ from the model's recommended ones, by name.
    num_lanes: problems to search at once in each process, None for as many as are worth it.
    memory_limit: bytes for all of them, None for half of what is free.
    jit_compile: whether XLA compiles the search.
  """

  model: str
  settings: tuple[tuple[str, Any], ...] = ()
  num_lanes: int | None = None
  memory_limit: int | None = None
  jit_compile: bool = True


@dataclasses.dataclass(frozen=True)
class Piece:
  """Some problems that were solved together.

  Attributes:
    states: [P, S] uint8, the problems.
    result: [P, ...], every plan of which has been replayed.
    seconds: that it took.
  """

  states: np.ndarray
  result: search.SearchResult
  seconds: float


def solve_pieces(
  job: Job, problems: Iterable[np.ndarray], num_processes: int = 1
) -> Iterator[Piece]:
  """Solves problems [S] one piece after the other, in order.

  Raises:
    RuntimeError: if a plan does not solve its problem, which would be a bug.
  """
  if num_processes < 1:
    raise ValueError(f"num_processes must be at least 1; got {num_processes}.")
  pieces = _pieces(problems, solver_of(job).problems_per_call, num_processes)
  if num_processes == 1:
    for states in pieces:
      yield _solve(job, states)
    return
  job = _share(job, num_processes)
  pool = concurrent.futures.ProcessPoolExecutor(
    num_processes,
    mp_context=multiprocessing.get_context("spawn"),  # TensorFlow does not survive a fork.
    initializer=_start_worker,
    initargs=(max(1, (os.cpu_count() or 1) // num_processes),),
  )
  try:
    waiting: collections.deque[concurrent.futures.Future] = collections.deque()
    for states in pieces:
      waiting.append(pool.submit(_solve, job, states))
      if len(waiting) > _PIECES_AHEAD * num_processes:
        yield waiting.popleft().result()
    while waiting:
      yield waiting.popleft().result()
  finally:
    pool.shutdown(cancel_futures=True)


def _pieces(problems: Iterable[np.ndarray], size: int, num_processes: int) -> Iterator[np.ndarray]:
  """Pieces [P, S] of at most `size`, smaller where some processes would have nothing to do."""
  problems = iter(problems)
  while block := list(itertools.islice(problems, size * num_processes)):
    share = -(-len(block) // num_processes)
    for start in range(0, len(block), share):
      yield np.stack(block[start : start + share])


def _share(job: Job, num_processes: int) -> Job:
  """The same lanes as one process would have, so that pieces are of one size, in less memory."""
  solver = solver_of(job)
  limit = job.memory_limit or search.memory.free_bytes() // 2
  return dataclasses.replace(job, num_lanes=solver.num_lanes, memory_limit=limit // num_processes)


def _start_worker(num_threads: int) -> None:
  tf.config.threading.set_intra_op_parallelism_threads(num_threads)
  signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a stack trace of its own.
  threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
  """A worker whose parent was killed would wait for work forever."""
  multiprocessing.parent_process().join()
  os._exit(1)


def _solve(job: Job, states: np.ndarray) -> Piece:
  start = time.perf_counter()
  solver = solver_of(job)
  result = solver.solve(states)
  seconds = time.perf_counter() - start
  if not np.all(search.verify(solver.puzzle, tf.constant(states), result)):
    raise RuntimeError("a plan does not solve its problem; please report this with the problem.")
  return Piece(states, search.SearchResult(*(part.numpy() for part in result)), seconds)


@functools.lru_cache(maxsize=4)
def solver_of(job: Job) -> search.Solver:
  """The compiled solver of a job, made once in each process."""
  model = export.load(job.model)
  return model.solver(job.num_lanes, job.memory_limit, job.jit_compile, **dict(job.settings))
