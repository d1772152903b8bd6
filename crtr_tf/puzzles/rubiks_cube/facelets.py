"""Cube text: facelet strings with a full check that the cube exists, and Singmaster moves."""

import re

import numpy as np

from crtr_tf.puzzles.base import InstanceError
from crtr_tf.puzzles.rubiks_cube import geometry

_MOVE = re.compile(r"([URFDLB])(2)?(['’])?")


def parse_moves(text: str) -> list[int]:
  """Singmaster moves (`R U R' U' F2`, spaces optional) as quarter turns; a half turn gives two."""
  moves = []
  for position, word in enumerate(text.split(), start=1):
    start = 0
    while start < len(word):
      match = _MOVE.match(word, start)
      if match is None:
        raise InstanceError(
          f"unknown cube move {word[start:]!r} in word {position} ({word!r}); "
          "expected the face turns U R F D L B, each alone or with ' or 2."
        )
      face, half, prime = match.groups()
      move = 2 * geometry.FACES.index(face) + (1 if prime else 0)
      moves += [move, move] if half else [move]
      start = match.end()
  return moves


def format_facelets(state: np.ndarray) -> str:
  """[54] colours -> `UUUUUUUUURRR...`."""
  return "".join(geometry.FACES[colour] for colour in state)


def parse_facelets(text: str) -> np.ndarray:
  """`UUUUUUUUURRR...` -> [54] uint8; raises InstanceError unless turns can lead there."""
  if len(text) != geometry.NUM_STICKERS:
    raise InstanceError(
      f"a facelet string has 54 letters (9 for each of U R F D L B); got {len(text)}."
    )
  for position, letter in enumerate(text, start=1):
    if letter not in geometry.FACES:
      raise InstanceError(
        f"unknown facelet {letter!r} at position {position}; expected one of U R F D L B."
      )
  state = np.array([geometry.FACES.index(letter) for letter in text], np.uint8)
  check_reachable(state)
  return state


def check_reachable(state: np.ndarray) -> None:
  """Raises InstanceError, naming the first rule broken, unless turns lead from solved there."""
  _check_colours(state)
  corners, edges = geometry.pieces()
  corner_places, corner_twists = _identify("corner", state, corners)
  edge_places, edge_flips = _identify("edge", state, edges)
  if sum(corner_twists) % 3:
    raise InstanceError(
      "impossible cube: a corner is twisted in place "
      f"(the corner twists sum to {sum(corner_twists) % 3} modulo 3, not 0)."
    )
  if sum(edge_flips) % 2:
    raise InstanceError("impossible cube: an edge is flipped in place (an odd number of flips).")
  if _is_odd(corner_places) != _is_odd(edge_places):
    raise InstanceError(
      "impossible cube: two pieces are swapped "
      "(the permutations of corners and of edges differ in parity)."
    )


def _check_colours(state: np.ndarray) -> None:
  for colour, count in enumerate(np.bincount(state, minlength=6)):
    if count != 9:
      raise InstanceError(
        f"impossible cube: every colour stands on 9 stickers; got {count} of "
        f"{geometry.FACES[colour]}."
      )
  for face in range(6):
    centre = state[9 * face + 4]
    if centre != face:
      raise InstanceError(
        f"impossible cube: the centre of face {geometry.FACES[face]} must be "
        f"{geometry.FACES[face]} (centres do not move); got {geometry.FACES[centre]}."
      )


def _identify(kind: str, state: np.ndarray, pieces: np.ndarray) -> tuple[list[int], list[int]]:
  """Which piece sits at each place, and how far it is turned from its reference sticker."""
  home_colours = [tuple(geometry.SOLVED[piece]) for piece in pieces]
  places: list[int] = []
  turns: list[int] = []
  for piece in pieces:
    seen = tuple(state[piece])
    where = format_facelets(geometry.SOLVED[piece])
    for turn in range(len(seen)):
      rotated = seen[turn:] + seen[:turn]  # as it would show with its reference sticker first
      if rotated in home_colours:
        identity = home_colours.index(rotated)
        break
    else:
      raise InstanceError(
        f"impossible cube: the {kind} at {where} shows {format_facelets(np.array(seen))}, "
        "a piece that does not exist."
      )
    if identity in places:
      raise InstanceError(
        f"impossible cube: the {kind} piece {format_facelets(np.array(home_colours[identity]))} "
        "appears twice."
      )
    places.append(identity)
    turns.append(turn)
  return places, turns


def _is_odd(permutation: list[int]) -> bool:
  inversions = sum(
    permutation[i] > permutation[j] for j in range(len(permutation)) for i in range(j)
  )
  return inversions % 2 == 1
