"""Measures of a representation, and pictures of them."""
