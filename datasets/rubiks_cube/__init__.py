"""Rubik's Cube episodes; see `README.md`."""
