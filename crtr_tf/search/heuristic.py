"""The seam between search and model: how far is a state from the goal of its problem?"""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

# [M, S], [M, S] uint8 states and goals -> [M] float32, lower is closer.
DistanceFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class Heuristic(NamedTuple):
  """A distance to goals, in two steps so that what depends on the goal alone is computed once.

  A distance of +inf (or NaN) says that the state leads nowhere: it is never expanded.
  """

  prepare: Callable[[tf.Tensor], tf.Tensor]  # goals [P, S] uint8 -> contexts [P, ...]
  distance: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # states [M, S], contexts [M, ...] -> [M]


def has_embeddings(source: Any) -> bool:
  """Whether its distance is one between embeddings of states and goals; see `as_heuristic`."""
  methods = (getattr(source, name, None) for name in ("embed", "embedding_distance"))
  return all(callable(method) for method in methods)


def as_heuristic(source: Any) -> Heuristic:
  """Makes a heuristic of whatever can estimate a distance.

  Args:
    source: a `Heuristic`; an object with `embed` ([N, S] -> [N, d]) and `embedding_distance`
      ([N, d], [N, d] -> [N]), whose goals are then embedded once per problem; an object with a
      method `distance` of states and goals; or such a function itself.

  Raises:
    TypeError: if it is none of these.
  """
  if isinstance(source, Heuristic):
    return source
  if has_embeddings(source):
    return Heuristic(
      source.embed, lambda states, goals: source.embedding_distance(source.embed(states), goals)
    )
  distance = getattr(source, "distance", source)
  if callable(distance):
    return Heuristic(tf.identity, distance)
  raise TypeError(
    "heuristic must be a Heuristic, an object with `embed` and `embedding_distance` or with "
    f"`distance`, or a function of states and goals; got {type(source).__name__}."
  )
