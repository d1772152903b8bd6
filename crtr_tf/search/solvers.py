"""Solvers: a search algorithm compiled for streams of problems of any size.

>>> solver = search.BestFirstSolver(puzzle, heuristic, budget=6000)
>>> result = solver.solve(puzzle.instances(seed=0, episodes=tf.range(1000, dtype=tf.int64)))
>>> result.plan(0)
"""

from typing import Any

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import beam, best_first, checks, greedy, hash_table, lanes, memory, scoring
from crtr_tf.search import heuristic as heuristics
from crtr_tf.search.result import SearchResult, concatenate

# Children per step that keep the encoder busy; more only cost memory.
_TARGET_CHILDREN = 4096
_MOST_LANES = 256  # unless asked for; more would only make results come in larger pieces
_WAITING_PER_LANE = 4  # problems in one compiled call, for each lane
_INT32_BYTES = 4
_SIZES = [1 << bits for bits in range(hash_table.TAG_BITS)]  # what batches are padded to


class Solver(tf.Module):
  """A search algorithm, compiled once for each padded size of batches.

  Problems stream through a fixed number of lanes; one that is finished makes room for the next.
  Batches are padded to powers of two, and long ones are cut into calls of one size, so memory does
  not grow with the number of problems and a stream compiles once.

  Attributes:
    num_lanes: problems that are searched at once.
    memory_per_lane: bytes for each of them.
    problems_per_call: how many problems `solve` takes on at a time; a stream that is cut into
      pieces of this size is solved as fast as in one piece.

  Args:
    algorithm: what runs in the lanes.
    source: what the heuristic was made of; kept so that its variables are saved with the solver.
    children_per_lane: of one step.
    num_lanes: problems to search at once; None for as many as keep the encoder busy.
    memory_limit: bytes for all lanes; None for half of the memory that is free. With less than the
      lanes need their number is reduced, with a warning.
    jit_compile: whether XLA compiles it all.

  Raises:
    ValueError: if a single lane does not fit.
  """

  def __init__(
    self,
    algorithm: Any,
    source: Any,
    children_per_lane: int,
    num_lanes: int | None,
    memory_limit: int | None,
    jit_compile: bool,
  ):
    super().__init__(name=type(self).__name__)
    if num_lanes is None:
      num_lanes = min(_MOST_LANES, max(1, _TARGET_CHILDREN // children_per_lane))
    checks.at_least(1, num_lanes=num_lanes)
    self.puzzle = algorithm.puzzle
    self.algorithm = algorithm
    self.heuristic_source = source
    self.memory_per_lane = _bytes_with_queue(algorithm)
    self.num_lanes = memory.lanes_that_fit(
      num_lanes, self.memory_per_lane, memory_limit, f"{self.name} for {self.puzzle.name}"
    )
    self.problems_per_call = 1 << ((_WAITING_PER_LANE * self.num_lanes).bit_length() - 1)
    problems = tf.TensorSpec([None, self.puzzle.state_size], tf.uint8, name="states")
    count = tf.TensorSpec([], tf.int32, name="num_problems")
    # Autograph would only slow down tracing: nothing here relies on it.
    self._search = tf.function(
      self._search_lanes,
      input_signature=[problems, count],
      jit_compile=jit_compile or None,  # False would also forbid the heuristic to be compiled.
      autograph=False,
    )
    self._solve_padded = tf.function(
      self._search_and_trim, input_signature=[problems, count], autograph=False
    )
    self.solve_in_graph = tf.function(
      self._pad_and_solve, input_signature=[problems], autograph=False
    )

  def solve(self, states: np.ndarray | tf.Tensor) -> SearchResult:
    """Solves any number of problems: [P, S] uint8 start states -> results in the same order."""
    states = np.asarray(states)
    size = self.puzzle.state_size
    if states.ndim != 2 or states.shape[1] != size or states.dtype != np.uint8:
      raise ValueError(
        f"states must be [P, {size}] uint8 for {self.puzzle.name}; "
        f"got {list(states.shape)} {states.dtype}."
      )
    padded_size = min(self.problems_per_call, _padded_size(len(states)))
    results = []
    for start in range(0, max(len(states), 1), padded_size):
      part = states[start : start + padded_size]
      padded = np.resize(part, (padded_size, size))  # repeats the problems: all are real ones
      results.append(self._solve_padded(padded, len(part)))
    return concatenate(results)

  def _pad_and_solve(self, states: tf.Tensor) -> SearchResult:
    """The same in a graph, to be part of a larger one or a signature; all in one compiled call."""
    size = tf.shape(states)[0]
    padded = tf.gather(_SIZES, tf.searchsorted(_SIZES, size[None])[0])  # see _padded_size
    if_none = tf.zeros([1, self.puzzle.state_size], tf.uint8)
    rows = tf.range(padded) % tf.maximum(size, 1)
    return self._solve_padded(tf.gather(tf.concat([states, if_none], axis=0), rows), size)

  def _search_and_trim(self, states: tf.Tensor, num_problems: tf.Tensor) -> SearchResult:
    """Cuts off the padding of problems and plans and turns the plans around."""
    result = self._search(states, num_problems)
    result = SearchResult(*(part[:num_problems] for part in result))
    longest = tf.reduce_max(tf.concat([result.lengths, [0]], axis=0))
    plans = tf.reverse_sequence(result.plans[:, :longest], result.lengths, seq_axis=1)
    return result._replace(plans=plans)

  def _search_lanes(self, states: tf.Tensor, num_problems: tf.Tensor) -> SearchResult:
    return lanes.solve(self.algorithm, states, num_problems, self.num_lanes)


class BestFirstSolver(Solver):
  """Best-first search, and A* with `alpha` above 0: expands the node with the least score.

  Children are tested for the goal when they are generated, and those whose state is in the tree
  already are skipped. Of equal scores the node that was created first is expanded first; children
  are created in the order of the actions.

  Args:
    puzzle: the rules.
    heuristic: distance to the goal; see `as_heuristic`.
    budget: the most nodes to create for a problem, start and solved state included; honoured
      exactly.
    alpha: weight of the depth; a node's score is its distance plus alpha times its depth.
    top_k: how many children of a node are kept at most, the nearest; None for all of them.
    expand_batch: nodes of a problem to expand at once. 1 is the paper's search; more keep the
      encoder busy when there are few problems. They are expanded as if together: a state that two
      of them lead to counts as the child of the better one.
    num_lanes: problems to search at once.
    memory_limit: bytes for all of them; see `memory_per_lane`.
    rows: states per call of the heuristic.
    jit_compile: False runs the same graph without XLA: slower, except for convolutions on a CPU.
  """

  def __init__(
    self,
    puzzle: base.Puzzle,
    heuristic: Any,
    budget: int,
    alpha: float = 0.0,
    top_k: int | None = None,
    expand_batch: int = 1,
    num_lanes: int | None = None,
    memory_limit: int | None = None,
    rows: int = scoring.DEFAULT_ROWS,
    jit_compile: bool = True,
  ):
    checks.at_least(1, budget=budget, expand_batch=expand_batch, rows=rows)
    checks.not_negative(alpha=alpha)
    if top_k is not None:
      checks.at_least(1, top_k=top_k)
    checks.nodes_fit(budget, puzzle.num_actions)
    algorithm = best_first.BestFirst(
      puzzle,
      heuristics.as_heuristic(heuristic),
      budget,
      alpha,
      top_k,
      min(expand_batch, budget),  # There are never more open nodes than that.
      rows,
    )
    children = algorithm.expand_batch * puzzle.num_actions
    super().__init__(algorithm, heuristic, children, num_lanes, memory_limit, jit_compile)


class GreedySolver(Solver):
  """No search: moves to the nearest state that it has not visited; fails when there is none.

  The nodes of the result are the visited states, the start included.

  Args:
    puzzle: the rules.
    heuristic: distance to the goal; see `as_heuristic`.
    max_steps: the most moves of a walk.
    num_lanes: problems to walk through at once.
    memory_limit: bytes for all of them.
    rows: states per call of the heuristic.
    jit_compile: False runs the same graph without XLA: slower, except for convolutions on a CPU.
  """

  def __init__(
    self,
    puzzle: base.Puzzle,
    heuristic: Any,
    max_steps: int,
    num_lanes: int | None = None,
    memory_limit: int | None = None,
    rows: int = scoring.DEFAULT_ROWS,
    jit_compile: bool = True,
  ):
    checks.at_least(1, max_steps=max_steps, rows=rows)
    checks.nodes_fit(max_steps, puzzle.num_actions)
    algorithm = greedy.Greedy(puzzle, heuristics.as_heuristic(heuristic), max_steps, rows)
    super().__init__(algorithm, heuristic, puzzle.num_actions, num_lanes, memory_limit, jit_compile)


class BeamSolver(Solver):
  """Beam search: of all children of a layer, the `width` nearest to the goal are the next layer.

  Children that repeat another one, a state of their parents' layer or of the layer before that are
  left out. The nodes of the result are the children that remain.

  Args:
    puzzle: the rules.
    heuristic: distance to the goal; see `as_heuristic`.
    width: states of a layer.
    max_depth: layers below the start: the most moves of a plan.
    num_lanes: problems to search at once.
    memory_limit: bytes for all of them.
    rows: states per call of the heuristic.
    jit_compile: False runs the same graph without XLA: slower, except for convolutions on a CPU.
  """

  def __init__(
    self,
    puzzle: base.Puzzle,
    heuristic: Any,
    width: int,
    max_depth: int,
    num_lanes: int | None = None,
    memory_limit: int | None = None,
    rows: int = scoring.DEFAULT_ROWS,
    jit_compile: bool = True,
  ):
    checks.at_least(1, width=width, max_depth=max_depth, rows=rows)
    checks.nodes_fit(width * (max_depth + 1), puzzle.num_actions)
    algorithm = beam.BeamSearch(puzzle, heuristics.as_heuristic(heuristic), width, max_depth, rows)
    super().__init__(
      algorithm, heuristic, width * puzzle.num_actions, num_lanes, memory_limit, jit_compile
    )


def memory_per_lane(puzzle: base.Puzzle, budget: int, expand_batch: int = 1) -> int:
  """Bytes that best-first search needs for each problem that it searches at once."""
  nothing = heuristics.as_heuristic(lambda states, goals: states)
  return _bytes_with_queue(best_first.BestFirst(puzzle, nothing, budget, expand_batch=expand_batch))


def _padded_size(size: int) -> int:
  """The next power of two."""
  return 1 << max(size - 1, 0).bit_length()


def _bytes_with_queue(algorithm: Any) -> int:
  """Memory of a lane with its share of the waiting problems and of their results."""
  waiting = algorithm.puzzle.state_size + _INT32_BYTES * (algorithm.max_plan_length + 4)
  return algorithm.lane_bytes() + _WAITING_PER_LANE * waiting
