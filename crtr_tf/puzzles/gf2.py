"""Linear equations over the field of two elements."""

import numpy as np

_MAX_NULLITY = 20  # the lightest solution is found among 2^nullity ones


def eliminate(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
  """Gauss-Jordan elimination modulo 2 of [M, N] 0/1.

  Returns:
    The reduced matrix [M, N], the row operations [M, M] with operations @ matrix = reduced, and the
    columns of the pivots, in the order of the rows.
  """
  reduced = matrix.astype(np.uint8) % 2
  operations = np.eye(len(reduced), dtype=np.uint8)
  pivots: list[int] = []
  for column in range(reduced.shape[1]):
    rank = len(pivots)
    candidates = np.flatnonzero(reduced[rank:, column])
    if not len(candidates):
      continue
    swap = [rank, rank + candidates[0]]
    reduced[swap], operations[swap] = reduced[swap[::-1]], operations[swap[::-1]]
    others = np.flatnonzero(reduced[:, column])
    others = others[others != rank]
    reduced[others] ^= reduced[rank]
    operations[others] ^= operations[rank]
    pivots.append(column)
  return reduced, operations, pivots


def null_space(matrix: np.ndarray) -> np.ndarray:
  """A basis [K, N] of the x with matrix @ x = 0 modulo 2."""
  reduced, _, pivots = eliminate(matrix)
  free = [column for column in range(matrix.shape[1]) if column not in pivots]
  basis = np.zeros((len(free), matrix.shape[1]), np.uint8)
  for vector, column in zip(basis, free, strict=True):
    vector[column] = 1
    vector[pivots] = reduced[: len(pivots), column]
  return basis


def lightest_solution(matrix: np.ndarray, right: np.ndarray) -> np.ndarray | None:
  """The x [N] with the fewest ones such that matrix @ x = right modulo 2; None if there is none."""
  _, operations, pivots = eliminate(matrix)
  image = operations @ right.astype(np.uint8) % 2
  if image[len(pivots) :].any():
    return None
  solution = np.zeros(matrix.shape[1], np.uint8)
  solution[pivots] = image[: len(pivots)]
  basis = null_space(matrix)
  if len(basis) > _MAX_NULLITY:
    raise ValueError(
      f"the lightest of 2^{len(basis)} solutions is out of reach; the limit is 2^{_MAX_NULLITY}."
    )
  solutions = solution[None]
  for vector in basis:
    solutions = np.concatenate([solutions, solutions ^ vector])
  return solutions[np.argmin(solutions.sum(axis=1))]
