"""Sokoban: rules, XSB text, a level generator, and an expert that solves the levels."""

from crtr_tf.puzzles.sokoban.cells import Cell
from crtr_tf.puzzles.sokoban.rules import Sokoban
from crtr_tf.puzzles.sokoban.text import level_size

__all__ = ["Cell", "Sokoban", "level_size"]
