"""Weighted A* over pushes: the compiled core of the expert.

A node is a set of box cells and the region that the player can walk in, named by its smallest cell.
A push of the box on `cell` in `direction` is the number 4 * cell + direction. Costs are integers,
COST_SCALE to a push, so that every machine searches in the same order.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from crtr_tf.puzzles.sokoban import splitmix
from crtr_tf.puzzles.sokoban.board import UNREACHABLE

MAX_BOXES = 8  # the exact assignment takes time and memory of 2^boxes
COST_SCALE = 256
SOLVED, EXHAUSTED, LIMIT_REACHED = 0, 1, 2  # how a search ended

_NO_NODE = -1

_NODE = np.dtype(
  [
    ("boxes", np.int16, (MAX_BOXES,)),  # cells, the first N of them used
    ("player", np.int16),  # cell, right after the push
    ("region", np.int16),  # smallest cell that the player can walk to
    ("bound", np.int32),  # least number of pushes that are left
    ("cost", np.int32),  # least known from the start
    ("parent", np.int32),  # node, _NO_NODE at the start
    ("push", np.int32),  # that leads here from the parent
    ("is_open", np.int32),  # 1 if still to be expanded
    ("hash", np.uint64),
  ],
  align=True,
)


class Scratch(NamedTuple):
  """Buffers that the expansion of a node writes over. N boxes, S cells."""

  boxes: np.ndarray  # [N] int64
  solid: np.ndarray  # [S] bool, walls and boxes; only the walls between expansions
  fixed: np.ndarray  # [S] bool, the same for boxes that may be immovable
  walk: np.ndarray  # [S] int32, steps of the player to each cell
  walk_after: np.ndarray  # [S] int32, the same after a push
  queue: np.ndarray  # [S] int64
  cost: np.ndarray  # [2^N] int32


@njit(cache=True, nogil=True)
def assignment_cost(distances, boxes, cost):
  """The cheapest one-to-one assignment of boxes to targets, at least UNREACHABLE if there is none.

  Args:
    distances: [N, S] int32 pushes from each cell to each target.
    boxes: [N] int64 cells.
    cost: [2^N] int32 scratch: of sending the first boxes to a set of as many targets.
  """
  cost[:] = UNREACHABLE
  cost[0] = 0
  for used in range(cost.size - 1):
    if cost[used] >= UNREACHABLE:
      continue
    box = 0
    for t in range(boxes.size):
      box += (used >> t) & 1
    for t in range(boxes.size):
      if not (used >> t) & 1:
        more = used | (1 << t)
        cost[more] = min(cost[more], cost[used] + distances[t, boxes[box]])
  return cost[-1]


@njit(cache=True, nogil=True)
def is_frozen_off_target(board, boxes, fixed):
  """Whether a box that is not on a target can never be pushed again.

  Takes all boxes as immovable and releases those that could be pushed along an axis, until nothing
  changes. On either axis, each box that remains has a wall or another remaining box beside it, or
  could only go to dead cells. So none of them can be the first to move, and none ever will.

  Args:
    board: Board.
    boxes: [N] int64 cells.
    fixed: [S] bool, equal to the walls; restored on return.
  """
  for box in boxes:
    fixed[box] = True
  changed = True
  while changed:
    changed = False
    for box in boxes:
      for step in (board.steps[1], board.steps[3]):
        a, b = box - step, box + step
        blocked = fixed[a] or fixed[b] or (board.is_dead[a] and board.is_dead[b])
        if fixed[box] and not blocked:
          fixed[box] = False
          changed = True
  frozen_off_target = False
  for box in boxes:
    frozen_off_target |= fixed[box] and not board.is_target[box]
    fixed[box] = False
  return frozen_off_target


@njit(cache=True, nogil=True)
def _flood(solid, steps, player, walk, queue):
  """Fills `walk` [S] with the player's steps to each cell; returns the smallest cell in reach."""
  walk[:] = UNREACHABLE
  walk[player] = 0
  queue[0], head, tail = player, 0, 1
  smallest = player
  while head < tail:
    cell = queue[head]
    head += 1
    smallest = min(smallest, cell)
    for step in steps:
      to = cell + step
      if not solid[to] and walk[to] == UNREACHABLE:
        walk[to] = walk[cell] + 1
        queue[tail] = to
        tail += 1
  return smallest


@njit(cache=True, nogil=True)
def _expand(board, nodes, parent, walk_cost, scratch, successors):
  """Fills `successors` with what one push makes of a node, unless that is clearly unsolvable.

  Args:
    board: Board.
    nodes: [M] of _NODE.
    parent: index of the node to expand.
    walk_cost: cost of a step of the player.
    scratch: Scratch.
    successors: [4 * N] of _NODE.

  Returns:
    The number of successors.
  """
  node = nodes[parent]
  boxes, solid = scratch.boxes, scratch.solid
  for i in range(boxes.size):
    boxes[i] = node.boxes[i]
    solid[boxes[i]] = True
  _flood(solid, board.steps, np.int64(node.player), scratch.walk, scratch.queue)
  count = 0
  for i in range(boxes.size):
    cell = boxes[i]
    for direction in range(4):
      to, stand = cell + board.steps[direction], cell - board.steps[direction]
      if solid[to] or board.is_dead[to] or scratch.walk[stand] == UNREACHABLE:
        continue
      boxes[i] = to
      if not is_frozen_off_target(board, boxes, scratch.fixed):
        bound = assignment_cost(board.distances, boxes, scratch.cost)
        if bound < UNREACHABLE:
          solid[cell], solid[to] = False, True
          region = _flood(solid, board.steps, cell, scratch.walk_after, scratch.queue)
          solid[cell], solid[to] = True, False
          moved = board.hashes[1, cell] ^ board.hashes[1, to]
          moved ^= board.hashes[0, node.region] ^ board.hashes[0, region]
          successor = successors[count]
          for j in range(boxes.size):
            successor.boxes[j] = boxes[j]
          successor.player, successor.region = cell, region
          successor.parent, successor.push, successor.is_open = parent, 4 * cell + direction, 1
          successor.cost = node.cost + COST_SCALE + walk_cost * scratch.walk[stand]
          successor.bound, successor.hash = bound, node.hash ^ moved
          count += 1
      boxes[i] = cell
  for box in boxes:
    solid[box] = False
  return count


@njit(cache=True, nogil=True)
def _find_slot(slots, nodes, state_hash):
  """The slot of a state in the open-addressing table of nodes, or the empty slot for it.

  States are told apart by their 64-bit hashes alone: two of 10^5 nodes collide with probability
  10^-9, and then one state of one search is overlooked.
  """
  last = slots.size - 1
  slot = np.int64(state_hash & np.uint64(last))
  while slots[slot] != _NO_NODE and nodes[slots[slot]].hash != state_hash:
    slot = (slot + 1) & last
  return slot


@njit(cache=True, nogil=True)
def _set_root(board, boxes, player, scratch, root):
  """Makes `root` the node of the level that is to be solved."""
  root.hash = 0
  for i in range(boxes.size):
    root.boxes[i] = boxes[i]
    scratch.solid[boxes[i]] = True
    root.hash ^= board.hashes[1, boxes[i]]
  root.player = player
  root.region = _flood(scratch.solid, board.steps, player, scratch.walk, scratch.queue)
  root.hash ^= board.hashes[0, root.region]
  for box in boxes:
    scratch.solid[box] = False
  root.bound = assignment_cost(board.distances, boxes, scratch.cost)
  root.cost, root.parent, root.push, root.is_open = 0, _NO_NODE, 0, 1


@njit(cache=True, nogil=True)
def _trace_back(nodes, node):
  """The pushes that lead to a node: [P] int64."""
  length, ancestor = 0, nodes[node].parent
  while ancestor != _NO_NODE:
    length, ancestor = length + 1, nodes[ancestor].parent
  plan = np.empty(length, np.int64)
  for i in range(length - 1, -1, -1):
    plan[i] = nodes[node].push
    node = nodes[node].parent
  return plan


@njit(cache=True, nogil=True)
def search(board, boxes, player, weight, noise, walk_cost, key, node_limit):
  """Searches a sequence of pushes that brings all boxes to targets.

  The priority of a state is cost + weight * bound + (a random number below noise), where the
  random number belongs to the state and the cost is that of its pushes and the walks between them.

  Args:
    board: Board with N targets, closed around the player.
    boxes: [N] int64 cells.
    player: cell.
    weight: int64, COST_SCALE for 1; then, without noise and walk_cost, the pushes are the fewest.
    noise: uint64, COST_SCALE for one push.
    walk_cost: int64, COST_SCALE if a step of the player counts as much as a push.
    key: uint64 that the random numbers depend on.
    node_limit: gives up when this many states are stored.

  Returns:
    How the search ended, the pushes [P] int64 (none unless SOLVED) and the number of states stored.
  """
  nodes, successors = np.empty(node_limit, _NODE), np.empty(4 * boxes.size, _NODE)
  num_slots = 1
  while num_slots < 2 * node_limit:
    num_slots *= 2
  slots = np.full(num_slots, _NO_NODE, np.int32)
  scratch = Scratch(
    boxes.copy(),
    board.wall.copy(),
    board.wall.copy(),
    np.empty(board.wall.size, np.int32),
    np.empty(board.wall.size, np.int32),
    np.empty(board.wall.size, np.int64),
    np.empty(1 << boxes.size, np.int32),
  )
  _set_root(board, boxes, player, scratch, nodes[0])
  slots[_find_slot(slots, nodes, nodes[0].hash)] = 0
  num_nodes = 1
  no_plan = np.empty(0, np.int64)
  if nodes[0].bound >= UNREACHABLE:
    return EXHAUSTED, no_plan, num_nodes
  frontier = [(np.int64(0), np.int64(0), np.int64(0))]  # (priority, bound, node)

  while len(frontier) > 0:
    node = heapq.heappop(frontier)[2]
    if not nodes[node].is_open:
      continue  # An entry of this state with a lower cost came first.
    nodes[node].is_open = 0
    if nodes[node].bound == 0:
      return SOLVED, _trace_back(nodes, node), num_nodes
    for i in range(_expand(board, nodes, node, walk_cost, scratch, successors)):
      successor = successors[i]
      slot = _find_slot(slots, nodes, successor.hash)
      child = np.int64(slots[slot])
      if child == _NO_NODE:
        if num_nodes == node_limit:
          return LIMIT_REACHED, no_plan, num_nodes
        child = num_nodes
        slots[slot] = child
        num_nodes += 1
      elif nodes[child].cost <= successor.cost:
        continue
      nodes[child] = successor
      random = splitmix.bits(key, successor.hash) >> np.uint64(32)
      priority = successor.cost + weight * successor.bound
      priority += np.int64((random * noise) >> np.uint64(32))
      heapq.heappush(frontier, (np.int64(priority), np.int64(successor.bound), np.int64(child)))
  return EXHAUSTED, no_plan, num_nodes
