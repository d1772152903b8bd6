"""Two replicas at half the batch each are one replica at the whole batch."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).with_name("train_on_replicas.py")
# How far weights may differ: the sums of twenty steps are taken in another order. The second case
# was seen to differ by 1.1e-5 on one processor, the others by 2.2e-6 at most.
SAME = {
  "dense backward": 1e-5,
  "dense symmetric with normalised negatives": 5e-5,
  "conv backward": 1e-5,
  "conv symmetric": 1e-5,
  "value iteration": 1e-5,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
  out = tmp_path_factory.mktemp("replicas") / "results.json"
  done = subprocess.run([sys.executable, SCRIPT, out], capture_output=True, text=True)
  assert done.returncode == 0, done.stderr[-3000:]
  return json.loads(out.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME)
def test_two_replicas_train_as_one(results: dict[str, dict], name: str):
  one, two = results[name]["one"], results[name]["two"]
  np.testing.assert_allclose(two["weights"], one["weights"], rtol=0, atol=SAME[name])
  assert two["statistics"] == pytest.approx(one["statistics"], abs=1e-4)


@pytest.mark.slow
def test_local_negatives_are_another_loss(results: dict[str, dict]):
  local, everywhere = results["local negatives"], results["dense backward"]
  # On one replica there is no difference; on two, half as many negatives are easier.
  np.testing.assert_array_equal(local["one"]["weights"], everywhere["one"]["weights"])
  assert np.abs(np.subtract(local["two"]["weights"], everywhere["two"]["weights"])).max() > 1e-3
  assert local["two"]["statistics"]["loss"] < everywhere["two"]["statistics"]["loss"] - 0.1
