"""What a search returns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from crtr_tf.puzzles import base


class SearchResult(NamedTuple):
  """The outcome of P problems, in the order in which they were given.

  A node is a state that was added to the search tree, each counted once, the start and the solved
  state included. A problem solved with n nodes is solved with every budget of n or more and with
  no smaller one, so one search gives the results of all smaller budgets.
  """

  solved: tf.Tensor  # [P] bool
  plans: tf.Tensor  # [P, M] int32 actions, NO_ACTION behind the last one and where not solved
  lengths: tf.Tensor  # [P] int32, actions of the plan; 0 where not solved
  nodes: tf.Tensor  # [P] int32
  expanded: tf.Tensor  # [P] int32, nodes whose children were looked at

  def plan(self, problem: int) -> list[int] | None:
    """The actions that solve a problem, None if none were found."""
    if not self.solved[problem]:
      return None
    return np.asarray(self.plans[problem, : int(self.lengths[problem])]).tolist()


def concatenate(results: Sequence[SearchResult]) -> SearchResult:
  """Joins results along the problems; plans are padded to the longest."""
  longest = max(result.plans.shape[1] for result in results)
  padded = [
    result._replace(
      plans=tf.pad(
        result.plans,
        [[0, 0], [0, longest - result.plans.shape[1]]],
        constant_values=base.NO_ACTION,
      )
    )
    for result in results
  ]
  return SearchResult(*(tf.concat(parts, axis=0) for parts in zip(*padded, strict=True)))
