"""Stickers, quarter turns and symmetries of the cube, derived from coordinates in space.

Conventions, fixed here and used everywhere:
- The cube is centred at the origin; x points to R, y to U, z to F. Cubies sit at coordinates
  in {-1, 0, 1}; a sticker is a cubie position and the outward normal of its face.
- Faces, and so the six colours, are numbered in the order U R F D L B. The 54 stickers are face by
  face in that order, row by row as seen when the face is looked at in the usual unfolded net.
- A quarter turn `X` is clockwise seen from outside the face, `X'` the other way.
- Permutations are gather indices: new[i] = old[permutation[i]].
"""

import functools
import itertools

import numpy as np

FACES = "URFDLB"
NUM_STICKERS = 54
MOVES = tuple(face + turn for face in FACES for turn in ("", "'"))  # U U' R R' F F' ...

# For each face: outward normal, direction of a growing column, direction of a growing row.
_FACE_AXES = {
  "U": ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
  "R": ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
  "F": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
  "D": ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
  "L": ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
  "B": ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
}

SOLVED = np.repeat(np.arange(6, dtype=np.uint8), 9)  # [54]


@functools.cache
def stickers() -> tuple[np.ndarray, np.ndarray]:
  """Cubie positions [54, 3] and outward normals [54, 3] of all stickers."""
  positions, normals = [], []
  for normal, column_axis, row_axis in (map(np.array, _FACE_AXES[face]) for face in FACES):
    for row, column in itertools.product((-1, 0, 1), repeat=2):
      positions.append(normal + column * column_axis + row * row_axis)
      normals.append(normal)
  return np.array(positions), np.array(normals)


@functools.cache
def move_permutations() -> np.ndarray:
  """[12, 54] int32 gather indices of the quarter turns, in the order of MOVES."""
  positions, _ = stickers()
  permutations = []
  for face in FACES:
    axis = np.array(_FACE_AXES[face][0])
    in_layer = positions @ axis == 1
    clockwise = _sticker_permutation(_clockwise_rotation(axis), in_layer)
    permutations += [clockwise, np.argsort(clockwise)]
  return np.array(permutations, np.int32)


INVERSE_MOVES = np.arange(len(MOVES), dtype=np.int32) ^ 1  # X and X' stand side by side


@functools.cache
def symmetries(mirrors: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """The symmetries of the cube as a solid: 24 rotations, then 24 mirror images if asked for.

  Symmetry k sends a state to `colours[k][state[stickers[k]]]`: stickers are carried to their
  image places, and colours renamed with them, so that solved stays solved and distances the same.

  Returns:
    stickers [K, 54] int32, colours [K, 6] uint8, moves [K, 12] int32: turning move m and then
    applying the symmetry equals applying the symmetry and then turning moves[k, m].
  """
  face_normals = np.array([_FACE_AXES[face][0] for face in FACES])
  all_rows, all_colours, all_moves = [], [], []
  for matrix in _signed_permutation_matrices(mirrors):
    all_rows.append(_sticker_permutation(matrix, np.ones(NUM_STICKERS, bool)))
    images = np.argmax((face_normals @ matrix.T) @ face_normals.T, axis=1)  # face -> its image
    all_colours.append(images)
    reverses = int(np.linalg.det(matrix) < 0)  # A mirror turns clockwise into counter-clockwise.
    all_moves.append([2 * images[m // 2] + (m % 2 ^ reverses) for m in range(len(MOVES))])
  return (
    np.array(all_rows, np.int32),
    np.array(all_colours, np.uint8),
    np.array(all_moves, np.int32),
  )


@functools.cache
def pieces() -> tuple[np.ndarray, np.ndarray]:
  """The stickers of each corner [8, 3] and edge [12, 2] cubie, as sticker numbers.

  The first sticker of a piece is its reference (the one on U or D, else on F or B); the other two
  of a corner follow clockwise as seen from outside. Twist and flip are counted from there.
  """
  positions, normals = stickers()
  corners, edges = [], []
  for cubie in sorted({tuple(position) for position in positions}, reverse=True):
    own = [i for i in range(NUM_STICKERS) if tuple(positions[i]) == cubie]
    own.sort(key=lambda i: (abs(normals[i][1]), abs(normals[i][2])), reverse=True)
    if len(own) == 2:
      edges.append(own)
    elif len(own) == 3:
      first, second, third = own
      turn = np.cross(normals[first], normals[second]) @ normals[third]
      corners.append([first, second, third] if turn < 0 else [first, third, second])
  return np.array(corners), np.array(edges)


def _clockwise_rotation(axis: np.ndarray) -> np.ndarray:
  """[3, 3] matrix of the quarter turn about `axis`, clockwise seen from its tip."""
  identity = np.eye(3, dtype=int)
  return np.outer(axis, axis) + np.stack([np.cross(e, axis) for e in identity], axis=1)


def _sticker_permutation(matrix: np.ndarray, moving: np.ndarray) -> np.ndarray:
  """[54] gather indices when the stickers marked in `moving` [54] are mapped by `matrix`."""
  positions, normals = stickers()
  place = {(tuple(p), tuple(n)): i for i, (p, n) in enumerate(zip(positions, normals, strict=True))}
  permutation = np.arange(NUM_STICKERS, dtype=np.int32)
  for source in np.flatnonzero(moving):
    image = (tuple(matrix @ positions[source]), tuple(matrix @ normals[source]))
    permutation[place[image]] = source
  return permutation


def _signed_permutation_matrices(mirrors: bool) -> list[np.ndarray]:
  """The 24 rotation matrices of the cube, identity first, then the 24 with determinant -1."""
  matrices = []
  for order in itertools.permutations(range(3)):
    for signs in itertools.product((1, -1), repeat=3):
      matrix = np.zeros((3, 3), int)
      matrix[range(3), order] = signs
      matrices.append(matrix)
  rotations = [matrix for matrix in matrices if np.linalg.det(matrix) > 0]
  reflections = [matrix for matrix in matrices if np.linalg.det(matrix) < 0]
  return rotations + (reflections if mirrors else [])
