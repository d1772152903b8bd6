"""Streams problems through a fixed number of lanes: a lane that is done takes the next problem.

Axes: P problems, L lanes, S cells, A actions, M moves of the longest possible plan.

A search algorithm works on L problems at once, each in its lane. Here problems are put into lanes,
the algorithm steps until some are done, and their results are written down where they belong. As
all of it is one compiled loop, nothing waits for Python between the first problem and the last.
"""

from typing import NamedTuple, Protocol, TypeVar

import tensorflow as tf

from crtr_tf.puzzles import base
from crtr_tf.search import heuristic as heuristics
from crtr_tf.search.result import SearchResult

ROOT = 0  # the node of the start state in every lane
NO_NODE = -1
NO_PROBLEM = -1

# A lane that is done costs next to nothing, taking in new problems costs a little: wait until one
# lane in so many is done.
_LANES_PER_IDLE_ONE = 16


class Search(Protocol):
  """What all algorithms keep of each lane; the root of the tree is node ROOT."""

  edges: tf.Tensor  # [L, N] int32, how node n was reached: its parent * A + the action
  goal_node: tf.Tensor  # [L] int32, a solved node, or NO_NODE
  created: tf.Tensor  # [L] int32, nodes so far
  expanded: tf.Tensor  # [L] int32, nodes expanded so far


SearchT = TypeVar("SearchT", bound=Search)


class Algorithm(Protocol[SearchT]):
  """A search that runs in lanes; all methods are pure functions of tensors."""

  puzzle: base.Puzzle
  heuristic: heuristics.Heuristic
  max_plan_length: int  # M

  def empty(self, states: tf.Tensor) -> SearchT:
    """Preallocates everything; nothing is running yet: all lanes are finished.

    What is not used yet is filled with the states [L, S], so that the rules of the puzzle are only
    ever applied to real ones.
    """

  def start(self, search: SearchT, lanes: tf.Tensor, states: tf.Tensor, tags: tf.Tensor) -> SearchT:
    """Begins anew in the marked lanes [L] at the states [L, S]; tags [L] are 1 or more, all new."""

  def step(self, search: SearchT, contexts: tf.Tensor) -> SearchT:
    """Expands in every lane that is not finished; contexts [L, ...] are those of the goals."""

  def finished(self, search: SearchT) -> tf.Tensor:
    """[L] bool."""


class Stream(NamedTuple):
  """Where everything is while problems stream through the lanes."""

  search: Search
  problem: tf.Tensor  # [L] int32, the problem in each lane, or NO_PROBLEM
  waiting: tf.Tensor  # [] int32, the first problem that is not yet in a lane
  results: SearchResult  # [P + 1, ...]: the last row is a bin. Plans are written back to front.


def solve(
  algorithm: Algorithm, states: tf.Tensor, num_problems: tf.Tensor, max_lanes: int
) -> SearchResult:
  """Solves the first of the given problems; the others are padding.

  Args:
    algorithm: the search.
    states: [P, S] uint8 start states.
    num_problems: [] int32, at most P.
    max_lanes: the number of lanes is the smaller one of this and P.

  Returns:
    [P, ...] results with plans back to front, without meaning behind their lengths.
  """
  size = tf.shape(states)[0]
  contexts = algorithm.heuristic.prepare(algorithm.puzzle.goal(states))
  num_lanes = tf.minimum(size, max_lanes)
  patience = tf.maximum(num_lanes // _LANES_PER_IDLE_ONE, 1)

  def running(stream: Stream) -> tf.Tensor:
    return (stream.problem != NO_PROBLEM) & ~algorithm.finished(stream.search)

  def keep_stepping(stream: Stream) -> tf.Tensor:
    num_running = tf.reduce_sum(tf.cast(running(stream), tf.int32))
    refill = (stream.waiting < num_problems) & (num_lanes - num_running >= patience)
    return (num_running > 0) & ~refill

  def advance(stream: Stream) -> tuple[Stream]:
    stream = _fill_lanes(algorithm, stream, states, num_problems)
    of_lanes = tf.gather(contexts, tf.maximum(stream.problem, 0))

    def step(stream: Stream) -> tuple[Stream]:
      return (stream._replace(search=algorithm.step(stream.search, of_lanes)),)

    (stream,) = tf.while_loop(keep_stepping, step, (stream,))
    return (_retire(stream, ~running(stream), algorithm.puzzle.num_actions),)

  def unfinished(stream: Stream) -> tf.Tensor:
    return (stream.waiting < num_problems) | tf.reduce_any(stream.problem != NO_PROBLEM)

  start = Stream(
    search=algorithm.empty(states[:num_lanes]),
    problem=tf.fill([num_lanes], NO_PROBLEM),
    waiting=tf.constant(0),
    results=_no_results(size, algorithm.max_plan_length),
  )
  (stream,) = tf.while_loop(unfinished, advance, (start,))
  return SearchResult(*(part[:-1] for part in stream.results))


def _no_results(size: tf.Tensor, max_plan_length: int) -> SearchResult:
  return SearchResult(
    solved=tf.zeros([size + 1], tf.bool),
    plans=tf.fill([size + 1, max(max_plan_length, 1)], base.NO_ACTION),
    lengths=tf.zeros([size + 1], tf.int32),
    nodes=tf.zeros([size + 1], tf.int32),
    expanded=tf.zeros([size + 1], tf.int32),
  )


def _fill_lanes(
  algorithm: Algorithm, stream: Stream, states: tf.Tensor, num_problems: tf.Tensor
) -> Stream:
  """Puts waiting problems into free lanes, in order."""
  free = stream.problem == NO_PROBLEM
  candidates = stream.waiting + tf.cumsum(tf.cast(free, tf.int32)) - 1
  filled = free & (candidates < num_problems)
  problem = tf.where(filled, candidates, stream.problem)
  starts = tf.gather(states, tf.maximum(problem, 0))
  return stream._replace(
    # Problems have different numbers, so these can tell lanes' tenants apart.
    search=algorithm.start(stream.search, filled, starts, tags=problem + 1),
    problem=problem,
    waiting=stream.waiting + tf.reduce_sum(tf.cast(filled, tf.int32)),
  )


def _retire(stream: Stream, done: tf.Tensor, num_actions: int) -> Stream:
  """Writes down the results of the lanes that are done and frees them."""
  search, results = stream.search, stream.results
  bin_row = tf.shape(results.solved)[0] - 1
  rows = tf.where(done & (stream.problem != NO_PROBLEM), stream.problem, bin_row)
  plans, lengths = _trace(search, rows, results.plans, num_actions)

  def write(values: tf.Tensor, updates: tf.Tensor) -> tf.Tensor:
    return tf.tensor_scatter_nd_update(values, rows[:, None], updates)

  return stream._replace(
    problem=tf.where(done, NO_PROBLEM, stream.problem),
    results=SearchResult(
      solved=write(results.solved, search.goal_node != NO_NODE),
      plans=plans,
      lengths=write(results.lengths, lengths),
      nodes=write(results.nodes, search.created),
      expanded=write(results.expanded, search.expanded),
    ),
  )


def _trace(
  search: Search, rows: tf.Tensor, plans: tf.Tensor, num_actions: int
) -> tuple[tf.Tensor, tf.Tensor]:
  """Follows the parents of the goal nodes to the root, writing the actions into `plans`.

  Args:
    search: the lanes.
    rows: [L] int32, the row of `plans` for each of them; the last one for lanes to pass over.
    plans: [P + 1, M] int32.
    num_actions: A.

  Returns:
    the plans, last action first.
    lengths: [L] int32.
  """
  bin_row = tf.shape(plans)[0] - 1

  def step_back(
    step: tf.Tensor, nodes: tf.Tensor, lengths: tf.Tensor, plans: tf.Tensor
  ) -> tuple[tf.Tensor, ...]:
    moving = nodes != ROOT
    edges = tf.gather(search.edges, nodes, batch_dims=1)
    places = tf.stack([tf.where(moving, rows, bin_row), tf.fill(tf.shape(rows), step)], axis=-1)
    plans = tf.tensor_scatter_nd_update(plans, places, edges % num_actions)
    nodes = tf.where(moving, edges // num_actions, ROOT)
    return step + 1, nodes, lengths + tf.cast(moving, tf.int32), plans

  # A goal node that was not found, NO_NODE, has no plan: neither has the root.
  nodes = tf.where(rows == bin_row, ROOT, tf.maximum(search.goal_node, ROOT))
  _, _, lengths, plans = tf.while_loop(
    lambda step, nodes, *_: tf.reduce_any(nodes != ROOT),
    step_back,
    (0, nodes, tf.zeros_like(nodes), plans),
  )
  return plans, lengths
