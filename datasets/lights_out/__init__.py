"""Lights Out episodes; see `README.md`."""
