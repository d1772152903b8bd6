"""Trajectories from several processes, for puzzles whose generators run on the host.

>>> made = parallel.generate_trajectories(puzzles.Sokoban(), 0, range(10_000), num_processes=8)

As with all `spawn`ed processes, a script that calls this must do so under
`if __name__ == "__main__":`.
"""

import collections
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent import futures

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base

CHUNK_EPISODES = 64

_worker: dict[str, base.Puzzle | int] = {}  # what a worker process was started for


def generate_trajectories(
  puzzle: base.Puzzle,
  seed: int,
  episodes: Sequence[int] | np.ndarray,
  num_processes: int,
  chunk_episodes: int = CHUNK_EPISODES,
) -> base.Trajectories:
  """The same as `puzzle.trajectories(seed, episodes)`, made by `num_processes` processes.

  Args:
    puzzle: any puzzle.
    seed: of the trajectories.
    episodes: [B] numbers of episodes.
    num_processes: to work in; with 1 all is done in this one.
    chunk_episodes: number of episodes that a process makes at a time.

  Returns:
    Trajectories in the order of `episodes`, the same for any number of processes and chunk size.
  """
  chunks = list(iterate_trajectories(puzzle, seed, episodes, num_processes, chunk_episodes))
  if not chunks:
    return puzzle.trajectories(seed, tf.zeros([0], tf.int64))
  return base.Trajectories(*(tf.concat(parts, axis=0) for parts in zip(*chunks, strict=True)))


def iterate_trajectories(
  puzzle: base.Puzzle,
  seed: int,
  episodes: Sequence[int] | np.ndarray,
  num_processes: int,
  chunk_episodes: int = CHUNK_EPISODES,
) -> Iterator[base.Trajectories]:
  """Yields the trajectories of `generate_trajectories` in chunks, for more than fit into memory."""
  for name, value in (("num_processes", num_processes), ("chunk_episodes", chunk_episodes)):
    if value < 1:
      raise ValueError(f"{name} must be at least 1; got {value}.")
  numbers = np.asarray(episodes, np.int64)
  chunks = [numbers[i : i + chunk_episodes] for i in range(0, len(numbers), chunk_episodes)]
  if num_processes == 1 or len(chunks) <= 1:
    return (puzzle.trajectories(seed, tf.constant(chunk)) for chunk in chunks)
  return _iterate_in_processes(puzzle, seed, chunks, num_processes)


def _iterate_in_processes(
  puzzle: base.Puzzle, seed: int, chunks: list[np.ndarray], num_processes: int
) -> Iterator[base.Trajectories]:
  pool = futures.ProcessPoolExecutor(
    min(num_processes, len(chunks)),
    # A forked TensorFlow hangs, and would share the parent's devices.
    mp_context=multiprocessing.get_context("spawn"),
    initializer=_start_worker,
    initargs=(puzzle, seed),
  )
  try:
    # A few chunks ahead of the consumer, not all: they would pile up in memory.
    pending: collections.deque[futures.Future] = collections.deque()
    for chunk in chunks:
      pending.append(pool.submit(_make_chunk, chunk))
      if len(pending) > 2 * num_processes:
        yield _to_tensors(pending.popleft().result())
    while pending:
      yield _to_tensors(pending.popleft().result())
  finally:
    pool.shutdown(cancel_futures=True)


def _start_worker(puzzle: base.Puzzle, seed: int) -> None:
  # The processes are the parallelism, and accelerators belong to the parent.
  tf.config.set_visible_devices([], "GPU")
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  _worker.update(puzzle=puzzle, seed=seed)


def _make_chunk(episodes: np.ndarray) -> tuple[np.ndarray, ...]:
  made = _worker["puzzle"].trajectories(_worker["seed"], tf.constant(episodes))
  return tuple(part.numpy() for part in made)


def _to_tensors(parts: tuple[np.ndarray, ...]) -> base.Trajectories:
  return base.Trajectories(*(tf.constant(part) for part in parts))
