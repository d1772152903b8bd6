"""Duplicates within a batch of keys."""

import numpy as np
import tensorflow as tf

from crtr_tf.search import duplicates


def test_the_first_wanted_one_of_equal_keys_is_marked():
  rng = np.random.default_rng(0)
  keys = 2 * rng.integers(-15, 15, (4, 50))  # with 0, the hash of a board of zeros
  wanted = rng.random(keys.shape) < 0.7
  found = duplicates.first_occurrences(tf.constant(keys), tf.constant(wanted)).numpy()
  for row, row_wanted, row_found in zip(keys, wanted, found, strict=True):
    _, first = np.unique(row[row_wanted], return_index=True)
    assert np.flatnonzero(row_found).tolist() == np.flatnonzero(row_wanted)[np.sort(first)].tolist()
