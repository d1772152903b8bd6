"""Sliding-tile puzzle episodes; see `README.md`."""
