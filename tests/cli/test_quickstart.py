"""The quickstart as a newcomer runs it."""

import pathlib
import subprocess
import sys

import tensorflow as tf

from crtr_tf import puzzles


def test_quickstart_shows_and_draws_every_puzzle(tmp_path: pathlib.Path):
  command = [sys.executable, "-m", "crtr_tf.cli.quickstart", f"--out_dir={tmp_path}"]
  result = subprocess.run(command, capture_output=True, text=True, timeout=300)
  assert result.returncode == 0, result.stderr
  for name in puzzles.PUZZLES:
    assert f"{name}\n" in result.stdout
    picture = tf.io.decode_png((tmp_path / f"{name}.png").read_bytes())
    assert min(picture.shape[:2]) > 200
  assert result.stdout.count("solved in") == len(puzzles.PUZZLES)
  assert f"in {tmp_path}" in result.stdout.splitlines()[-1]
