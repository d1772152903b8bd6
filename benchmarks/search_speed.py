"""The search beside the encoder alone: how many of its states per second become nodes.

All on the cube, with an untrained dense encoder of width 512 and depth 4. What the encoder does
alone is measured before and after each search, as machines are not equally fast all the time.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

from benchmarks.measure import Measurement, seconds, wait
from benchmarks.puzzle_speed import plain_encoder
from crtr_tf import puzzles, search
from crtr_tf.search import reference

BUDGET = 6000
LARGE_BUDGET = 60_000
_CUBE = puzzles.RubiksCube()
_RAW_BATCHES = (128, 256, 512, 1024, 2048, 4096)
_RAW_SECONDS = 1.0

Encode = Callable[[tf.Tensor], tf.Tensor]  # [N, S] uint8 -> [N, d]


def measurements() -> Iterator[Measurement]:
  encode = plain_encoder(width=512, depth=4)
  batch = best_batch(encode)
  yield Measurement("encoder 512 x 4: best batch size", batch, "states")
  yield from stream(encode, batch)
  yield from large_budget(encode)
  yield from one_hard_problem(encode, batch)
  yield from wide_beam(encode, batch)


def stream(encode: Encode, batch: int, num_problems: int = 1000) -> Iterator[Measurement]:
  """Easy problems and ones that use up the budget, in turn; and the plain search beside it."""
  solver = search.BestFirstSolver(_CUBE, _squared_distance(encode), BUDGET, num_lanes=256)
  starts = np.concatenate([_easy_cubes(num_problems // 2), _random_cubes(num_problems // 2)])
  starts = np.random.default_rng(0).permutation(starts)
  compiling = _timed(lambda: solver.solve(np.repeat(_solved_cube(), num_problems, axis=0)))
  yield Measurement("best-first: trace and compile", round(compiling, 1), "seconds", "<= 15")
  rate, share = _rate_and_share(solver, starts, encode, batch)
  yield Measurement(f"best-first, {num_problems} problems", round(rate), "nodes per second")
  yield Measurement("best-first stream / encoder alone", round(share, 2), "x", ">= 0.75")
  plain = _plain_rate(encode)
  yield Measurement("priority queue in Python", round(plain), "nodes per second")
  yield Measurement("best-first stream / Python", round(rate / plain, 1), "x", ">= 30")


def large_budget(encode: Encode, num_problems: int = 4) -> Iterator[Measurement]:
  """Whether a node costs the same in a large tree."""
  starts = _random_cubes(num_problems)
  small, large = (
    search.BestFirstSolver(_CUBE, _squared_distance(encode), budget, expand_batch=16)
    for budget in (BUDGET, LARGE_BUDGET)
  )
  for solver in (small, large):
    solver.solve(np.repeat(_solved_cube(), num_problems, axis=0))  # Compiles.
  # Ten small trees have as many nodes as a large one; half of them come before it, half after.
  repeats = LARGE_BUDGET // BUDGET // 2
  before = _node_rate(small, starts, repeats)
  rate = _node_rate(large, starts)
  after = _node_rate(small, starts, repeats)
  yield Measurement(f"best-first, budget {LARGE_BUDGET}", round(rate), "nodes per second")
  share = round(2 * rate / (before + after), 2)
  yield Measurement(f"budget {LARGE_BUDGET} / budget {BUDGET}", share, "x", ">= 0.8")


def one_hard_problem(encode: Encode, batch: int) -> Iterator[Measurement]:
  """A single problem, several nodes at once."""
  solver = search.BestFirstSolver(_CUBE, _squared_distance(encode), LARGE_BUDGET, expand_batch=64)
  solver.solve(_solved_cube())  # Compiles.
  rate, share = _rate_and_share(solver, _random_cubes(1), encode, batch)
  yield Measurement("best-first, one problem, 64 at once", round(rate), "nodes per second")
  yield Measurement("one problem / encoder alone", round(share, 2), "x", ">= 0.5")


def wide_beam(encode: Encode, batch: int) -> Iterator[Measurement]:
  """A beam of 8192 on one cube."""
  solver = search.BeamSolver(_CUBE, _squared_distance(encode), width=8192, max_depth=8)
  solver.solve(_solved_cube())  # Compiles.
  rate, share = _rate_and_share(solver, _random_cubes(1), encode, batch)
  yield Measurement("beam of 8192, one problem", round(rate), "nodes per second")
  yield Measurement("beam of 8192 / encoder alone", round(share, 2), "x", ">= 0.7")


def best_batch(encode: Encode) -> int:
  """The batch size at which the encoder is fastest."""
  states = _random_cubes(max(_RAW_BATCHES))

  def rate(batch: int) -> float:
    return batch / seconds(lambda: encode(tf.constant(states[:batch])), repeats=7)

  return max(_RAW_BATCHES, key=rate)


def _raw_rate(encode: Encode, batch: int) -> float:
  """States per second of the encoder alone."""
  states = tf.constant(_random_cubes(batch))
  wait(encode(states))
  times, end = [], time.perf_counter() + _RAW_SECONDS
  while time.perf_counter() < end:
    times.append(_timed(lambda: encode(states)))
  return batch / statistics.mean(times)


def _rate_and_share(
  solver: search.Solver, starts: np.ndarray, encode: Encode, batch: int
) -> tuple[float, float]:
  """Nodes per second, and the same as a share of the encoder's states per second."""
  before = _raw_rate(encode, batch)
  rate = _node_rate(solver, starts)
  after = _raw_rate(encode, batch)
  return rate, 2 * rate / (before + after)


def _node_rate(solver: search.Solver, starts: np.ndarray, repeats: int = 1) -> float:
  nodes = 0
  start = time.perf_counter()
  for _ in range(repeats):
    nodes += int(tf.reduce_sum(solver.solve(starts).nodes))
  return nodes / (time.perf_counter() - start)


def _plain_rate(encode: Encode, budget: int = 1000) -> float:
  """Nodes per second of the search with a queue in Python, one call of the model for each node."""
  heuristic = _squared_distance(encode)
  distance = tf.function(heuristic.distance, jit_compile=True)
  context = heuristic.prepare(tf.constant(_solved_cube()))
  start = _random_cubes(1)[0]

  def solve(budget: int) -> reference.Solution:
    return reference.best_first(
      _CUBE, lambda state: float(distance(state[None], context)[0]), start, budget
    )

  solve(50)  # Compiles.
  begin = time.perf_counter()
  nodes = solve(budget).nodes
  return nodes / (time.perf_counter() - begin)


def _squared_distance(encode: Encode) -> search.Heuristic:
  def distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.math.squared_difference(encode(states), goals), axis=1)

  return search.Heuristic(encode, distance)


def _random_cubes(count: int) -> np.ndarray:
  return _CUBE.instances(0, tf.range(count, dtype=tf.int64)).numpy()


def _easy_cubes(count: int) -> np.ndarray:
  easy = puzzles.RubiksCube(evaluation_moves=2)
  return easy.instances(0, tf.range(count, dtype=tf.int64)).numpy()


def _solved_cube() -> np.ndarray:
  return _CUBE.goal(tf.zeros([1, _CUBE.state_size], tf.uint8)).numpy()


def _timed(function: Callable[[], object]) -> float:
  start = time.perf_counter()
  wait(function())
  return time.perf_counter() - start
