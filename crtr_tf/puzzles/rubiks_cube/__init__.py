"""Rubik's Cube: geometry, rules, text and drawing."""

from crtr_tf.puzzles.rubiks_cube.rules import RubiksCube

__all__ = ["RubiksCube"]
