"""The quickstart as a newcomer runs it, at the scale of a test."""

import json
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_quickstart_goes_from_data_to_a_report(tmp_path: pathlib.Path):
  command = [sys.executable, "-m", "crtr_tf.cli.quickstart", f"--out_dir={tmp_path}"]
  result = subprocess.run([*command, "--scale=tiny"], capture_output=True, text=True, timeout=400)
  assert result.returncode == 0, result.stderr
  assert [line.split()[0] for line in result.stdout.splitlines()[1:4]] == [
    "Spearman",
    "CRTR",
    "CRL",
  ]
  assert "training crtr" in result.stderr and "training crl" in result.stderr
  report = tmp_path / "report" / "index.html"
  assert str(report) in result.stdout and "data:image/png" in report.read_text()
  numbers = json.loads((tmp_path / "results" / "quickstart" / "result.json").read_text())["numbers"]
  for method in ("crtr", "crl"):
    solved = list(numbers[method]["solved"].values())
    assert solved == sorted(solved) and solved[0] >= 0 and solved[-1] <= 1
  model = next(line.split()[-1] for line in result.stdout.splitlines() if "Trained model" in line)
  assert (pathlib.Path(model) / "saved_model.pb").is_file()
