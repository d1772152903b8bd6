"""Digit Jumper episodes; see `README.md`."""
