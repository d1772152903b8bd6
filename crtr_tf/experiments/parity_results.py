"""Beyond the paper: why Lights Out is hard to learn, in terms of parities.

A board is a sum modulo 2 of presses, so the functions of it that change slowly along a trajectory
are parities: "is the number of lights that are on in this set odd?" flips with a press just if the
press toggles an odd number of the set. A set that few presses flip tells time over many steps; the
question is how many lights it needs, since a network finds a parity of many lights hard to learn.

Because toggling is symmetric (a press toggles its neighbours, and is toggled by theirs), the sets
flipped by exactly the presses t are the solutions of the board t, and on solvable boards all of
them say the same: the smallest one is what `LightsOut.optimal_presses` finds.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf import puzzles, search
from crtr_tf.evaluation import evaluate
from crtr_tf.experiments.lab import Lab
from crtr_tf.experiments.page import Page, Table, number
from crtr_tf.experiments.result import Key, Plan, Result
from crtr_tf.experiments.scales import TINY, Scale

_SIDE = 5
_MOST_FLIPS = 3  # presses that flip a set
_MOST_LIGHTS = (1, 2, 3, 4, 6, 8, 10, 12)
_DISCOUNT = 0.9
_NUM_INSTANCES = 200
_BUDGET = 1000
_SEED = 1


class Parities(NamedTuple):
  """Sets of lights, as small as they can be."""

  lights: np.ndarray  # [F, S] 0/1
  flips: np.ndarray  # [F] by how many presses a set is flipped


def slow_parities(puzzle: puzzles.LightsOut, most_flips: int) -> Parities:
  """All parities, on solvable boards, that one to `most_flips` presses flip."""
  lights, flips = [], []
  for count in range(1, most_flips + 1):
    for cells in itertools.combinations(range(puzzle.state_size), count):
      presses = np.zeros(puzzle.state_size, np.uint8)
      presses[list(cells)] = 1
      smallest = puzzle.optimal_presses(presses)
      if smallest is not None:
        lights.append(smallest)
        flips.append(count)
  return Parities(np.array(lights), np.array(flips))


def parity_distance(parities: Parities, num_presses: int, discount: float) -> search.DistanceFn:
  """How much two boards differ in the parities, each weighted by how long it lasts.

  The weight is the correlation of the parity between the two states of a pair whose offset is
  geometric: k random presses of `num_presses` keep it with (1 - 2 flips / num_presses)^k.
  """
  kept = 1 - 2 * parities.flips / num_presses
  weights = tf.constant((1 - discount) * kept / (1 - discount * kept), tf.float32)
  sets = tf.constant(parities.lights.T, tf.float32)  # [S, F]

  def distance(states: tf.Tensor, goals: tf.Tensor) -> tf.Tensor:
    toggled = tf.cast(tf.bitwise.bitwise_xor(states, goals), tf.float32)
    odd = tf.math.floormod(tf.matmul(toggled, sets), 2.0)
    return tf.linalg.matvec(odd, weights)

  return distance


def _plan(scale: Scale, num_seeds: int) -> Plan:
  del scale, num_seeds  # Nothing is trained.
  return {}


def _page(outcomes: dict[Key, Any], lab: Lab) -> Page:
  del outcomes
  tiny = lab.scale.name == TINY.name
  puzzle = puzzles.LightsOut(_SIDE, _SIDE)
  parities = slow_parities(puzzle, 2 if tiny else _MOST_FLIPS)
  sizes = parities.lights.sum(axis=1)
  rows = []
  for count in np.unique(parities.flips):
    found = sizes[parities.flips == count]
    rows.append([str(count), str(len(found)), str(found.min()), number(found.mean(), 1)])
  page = Page()
  columns = ["flipped by presses", "parities", "fewest lights", "mean lights"]
  page.tables.append(Table(f"Parities of a {_SIDE}x{_SIDE} board", columns, rows))

  count = lab.scale.num_instances if tiny else _NUM_INSTANCES
  instances = np.stack(list(evaluate.generated_instances(puzzle, count, _SEED)))
  rows, curve = [], {}
  for most in _MOST_LIGHTS:
    few = Parities(*(part[sizes <= most] for part in parities))
    if not len(few.flips):
      continue
    distance = parity_distance(few, puzzle.num_actions, _DISCOUNT)
    solver = search.BestFirstSolver(puzzle, distance, budget=_BUDGET)
    solved = float(solver.solve(instances).solved.numpy().mean())
    rows.append([str(most), str(len(few.flips)), number(solved)])
    curve[str(most)] = solved
  columns = ["lights at most", "parities", f"solved with {_BUDGET} nodes"]
  title = f"Best-first search by the parities of at most so many lights, {count} boards"
  page.tables.append(Table(title, columns, rows))
  page.numbers = {"solved_by_most_lights": curve}
  return page


RESULTS = (
  Result(
    "lights_out_parities",
    "Why Lights Out is hard to learn: the parities that a search needs",
    "Not in the paper, which reports nearly all 7x7 boards solved, after two days of an A100.",
    _plan,
    _page,
  ),
)
