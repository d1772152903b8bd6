"""The cube against independent packages, published patterns and group theory."""

import magiccube
import numpy as np
import pytest
import tensorflow as tf

from crtr_tf.puzzles import InstanceError, RubiksCube, replay
from crtr_tf.puzzles.rubiks_cube import facelets, geometry

CUBE = RubiksCube()

# Facelets (made with magiccube) and what the two-phase solver of the kociemba package answered.
TWO_PHASE_SOLUTIONS = [
  (
    "DRLUUBFBRBLURRLRUBLRDDFDLFUFUFFDBRDUBRUFLLFDDBFLUBLRBD",
    "D2 R' D' F2 B D R2 D2 R' F2 D' F2 U' B2 L2 U2 D R2 U",
  ),
]

# Patterns as published, as generators from the solved cube, with what they look like.
SUPERFLIP = "U R2 F B R B2 R U2 L B2 R U' D' R2 F R' L B2 U2 F2"
PATTERNS = {
  "checkerboard": (
    "U2 D2 F2 B2 L2 R2",
    "UDUDUDUDURLRLRLRLRFBFBFBFBFDUDUDUDUDLRLRLRLRLBFBFBFBFB",
  ),
  "superflip": (SUPERFLIP, "UBULURUFURURFRBRDRFUFLFRFDFDFDLDRDBDLULBLFLDLBUBRBLBDB"),
  "six spots": (
    "U D' R L' F B' U D'",
    "FFFFUFFFFUUUURUUUURRRRFRRRRBBBBDBBBBDDDDLDDDDLLLLBLLLL",
  ),
}


def random_plan(rng: np.random.Generator, length: int) -> list[int]:
  return rng.integers(0, 12, length).tolist()


def apply_plan(plan: list[int]) -> str:
  return CUBE.format_instance(replay(CUBE, geometry.SOLVED, plan)[-1])


def test_a_thousand_sequences_equal_the_magiccube_package():
  rng = np.random.default_rng(0)
  plans = rng.integers(0, 12, (1000, 30))
  states = tf.tile(geometry.SOLVED[None], [1000, 1])
  for step in range(plans.shape[1]):
    states = CUBE.apply(states, tf.constant(plans[:, step], tf.int32))
  for plan, state in zip(plans, states.numpy(), strict=True):
    other = magiccube.Cube(3)
    other.rotate(CUBE.format_plan(geometry.SOLVED, plan.tolist()))
    assert CUBE.format_instance(state) == other.get_kociemba_facelet_positions()


@pytest.mark.parametrize("move", range(12))
def test_a_quarter_turn_has_order_four_and_moves_twenty_stickers(move: int):
  permutation = geometry.move_permutations()[move]
  assert np.sum(permutation != np.arange(54)) == 20
  powers = [np.arange(54)]
  for _ in range(4):
    powers.append(powers[-1][permutation])
  assert all((power != np.arange(54)).any() for power in powers[1:4])
  np.testing.assert_array_equal(powers[4], np.arange(54))


@pytest.mark.parametrize("sequence, order", [("R U R' U'", 6), ("R U", 105), ("R U'", 63)])
def test_known_sequences_have_their_published_order(sequence: str, order: int):
  plan = CUBE.parse_plan(sequence)
  states = replay(CUBE, geometry.SOLVED, plan * order)[:: len(plan)]
  solved = CUBE.is_solved(states).numpy()
  assert np.flatnonzero(solved).tolist() == [0, order]


@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns(name: str):
  scramble, expected = PATTERNS[name]
  assert CUBE.format_instance(CUBE.parse_instance(scramble)) == expected
  np.testing.assert_array_equal(CUBE.parse_instance(expected), CUBE.parse_instance(scramble))


def test_superflip_is_its_own_inverse():
  assert apply_plan(CUBE.parse_plan(SUPERFLIP) * 2) == apply_plan([])


@pytest.mark.parametrize("text, solution", TWO_PHASE_SOLUTIONS)
def test_recorded_two_phase_solutions_solve(text: str, solution: str):
  states = replay(CUBE, CUBE.parse_instance(text), CUBE.parse_plan(solution))
  assert CUBE.is_solved(states).numpy().tolist() == [False] * (len(states) - 1) + [True]


def test_two_phase_solver_agrees():
  kociemba = pytest.importorskip("kociemba", reason="the oracle extra needs a C compiler")
  for state in CUBE.instances(3, tf.range(20, dtype=tf.int64)).numpy():
    solution = kociemba.solve(CUBE.format_instance(state))
    assert CUBE.is_solved(replay(CUBE, state, CUBE.parse_plan(solution))[-1:]).numpy().all()


def test_symmetries_are_the_group_of_the_cube():
  rows, colours, _ = geometry.symmetries()
  assert len({tuple(row) for row in rows}) == 48
  assert len({tuple(colour) for colour in colours}) == 48
  np.testing.assert_array_equal(rows[0], np.arange(54))
  everything = {tuple(row) for row in rows}
  rotations = {tuple(row) for row in geometry.symmetries(mirrors=False)[0]}
  assert len(rotations) == 24
  for a in rows[::5]:
    assert all(tuple(a[b]) in everything for b in rows)
  assert all(tuple(np.array(a)[np.array(b)]) in rotations for a in rotations for b in rotations)


def test_symmetries_keep_solved_and_commute_with_turns():
  rng = np.random.default_rng(1)
  _, _, renamed_moves = geometry.symmetries()
  state = replay(CUBE, geometry.SOLVED, random_plan(rng, 25))[-1]
  symmetry = tf.range(48)
  images = CUBE.symmetric_images(tf.tile(state[None], [48, 1]), symmetry)
  assert (
    CUBE.is_solved(CUBE.symmetric_images(tf.tile(geometry.SOLVED[None], [48, 1]), symmetry))
    .numpy()
    .all()
  )
  for image in images.numpy():
    facelets.check_reachable(image)
  for move in range(12):
    turned = CUBE.apply(state[None], [move])
    expected = CUBE.symmetric_images(tf.tile(turned, [48, 1]), symmetry)
    np.testing.assert_array_equal(CUBE.apply(images, renamed_moves[:, move]), expected)


def test_pieces_cover_the_stickers_that_move():
  corners, edges = geometry.pieces()
  assert corners.shape == (8, 3) and edges.shape == (12, 2)
  moving = np.concatenate([corners.ravel(), edges.ravel()])
  assert sorted(moving) == [i for i in range(54) if i % 9 != 4]


def test_random_cubes_are_reachable_and_spread():
  cubes = CUBE.instances(0, tf.range(300, dtype=tf.int64)).numpy()
  for cube in cubes:
    facelets.check_reachable(cube)
  assert len(np.unique(cubes, axis=0)) == 300
  # A sticker that is not a centre shows each colour about equally often.
  counts = np.bincount(cubes[:, [0, 1, 10, 19, 52]].ravel(), minlength=6) / (300 * 5)
  np.testing.assert_allclose(counts, 1 / 6, atol=0.04)


def test_short_evaluation_scrambles_are_never_solved_and_never_undo():
  cube = RubiksCube(evaluation_moves=2)
  states = cube.instances(0, tf.range(500, dtype=tf.int64))
  assert not cube.is_solved(states).numpy().any()


@pytest.mark.parametrize("allow_undo", [True, False])
def test_training_scrambles_undo_only_where_allowed(allow_undo: bool):
  cube = RubiksCube(trajectory_moves=23, allow_undo=allow_undo)
  actions = cube.trajectories(0, tf.range(200, dtype=tf.int64)).actions.numpy()
  undone = (actions[:, 1:] ^ 1) == actions[:, :-1]
  assert abs(undone.mean() - (1 / 12 if allow_undo else 0)) < 0.015
  counts = np.bincount(actions.ravel(), minlength=12)
  np.testing.assert_allclose(counts / counts.sum(), 1 / 12, atol=0.015)


@pytest.mark.parametrize(
  "scramble, moves",
  [
    ("R U R' U'", [2, 0, 3, 1]),
    ("F2", [4, 4]),
    ("F2'", [5, 5]),
    ("RU2R’", [2, 0, 0, 3]),
    ("", []),
  ],
)
def test_singmaster_notation(scramble: str, moves: list[int]):
  assert CUBE.parse_plan(scramble) == moves


SOLVED = "UUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB"


def with_stickers(stickers: dict[int, str]) -> str:
  letters = list(SOLVED)
  for position, letter in stickers.items():
    letters[position] = letter
  return "".join(letters)


# Sticker numbers: U9 = 8, R1 = 9, F3 = 20 meet in the corner URF; U8 = 7, F2 = 19 in the edge UF;
# U6 = 5 and R2 = 10 in the edge UR; U7 = 6, L3 = 38, F1 = 18 in the corner UFL.
BAD_CUBES = {
  "too short": (SOLVED[:-1], "54 letters .* got 53"),
  "too long": (SOLVED + "B", "54 letters .* got 55"),
  "unknown letter": ("X" + SOLVED[1:], "unknown facelet 'X' at position 1"),
  "lower case": (SOLVED.lower(), "unknown facelet 'u' at position 1"),
  "colour count": (with_stickers({0: "R"}), "9 stickers; got 8 of U"),
  "centre": (with_stickers({4: "R", 13: "U"}), "centre of face U must be U .* got R"),
  "corner that does not exist": (
    with_stickers({8: "D", 35: "U"}),
    "corner at URF shows DRF, a piece that does not exist",
  ),
  "mirrored corner": (
    with_stickers({9: "F", 20: "R"}),
    "corner at URF shows UFR, a piece that does not exist",
  ),
  "corner piece twice": (
    with_stickers({18: "L", 38: "B", 53: "F"}),
    "corner piece ULB appears twice",
  ),
  "edge that does not exist": (
    with_stickers({7: "B", 52: "U"}),
    "edge at UF shows BF, a piece that does not exist",
  ),
  "edge piece twice": (with_stickers({7: "D", 34: "U"}), "edge piece DF appears twice"),
  "twisted corner": (with_stickers({8: "F", 9: "U", 20: "R"}), "corner is twisted"),
  "flipped edge": (with_stickers({7: "F", 19: "U"}), "edge is flipped"),
  "two edges swapped": (with_stickers({19: "R", 10: "F"}), "two pieces are swapped"),
}


@pytest.mark.parametrize("name", BAD_CUBES)
def test_impossible_cubes_are_refused(name: str):
  text, message = BAD_CUBES[name]
  with pytest.raises(InstanceError, match=message):
    CUBE.parse_instance(text)


def test_bad_lines_are_numbered_and_good_ones_kept():
  parsed = CUBE.parse_instances(f"{SOLVED}\n\nR U Q\n{with_stickers({7: 'F', 19: 'U'})}\nR2 D'\n")
  assert parsed.numbers == (1, 4)
  assert parsed.states.shape == (2, 54)
  assert [error.split(":")[0] for error in parsed.errors] == ["instance 2", "instance 3"]
  assert "unknown cube move 'Q' in word 3" in parsed.errors[0]


def test_bad_arguments_are_refused():
  with pytest.raises(ValueError, match="trajectory_moves must be at least 1; got 0"):
    RubiksCube(trajectory_moves=0)
