"""Sokoban episodes; see `README.md`."""
