"""Entry point of the `py_test` targets in BUILD: runs pytest on the files given as arguments.

A test file run as a plain script would only define its tests, and pass.
"""

import sys

import pytest

if __name__ == "__main__":
  sys.exit(pytest.main(sys.argv[1:]))
