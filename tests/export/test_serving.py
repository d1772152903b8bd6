"""The examples of export/README.md are requests that the signatures take and what they answer."""

import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from crtr_tf import export
from crtr_tf.export import metadata as metadata_lib
from crtr_tf.puzzles import base
from tests.export import toy_models

README = pathlib.Path(export.__file__).with_name("README.md")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
  """The versioned layout, and the version that a server would pick."""
  folder = tmp_path_factory.mktemp("lights_out")
  export.save(
    toy_models.TableModel(tf.identity),
    toy_models.PUZZLE,
    folder / "1",
    export.Training("exact"),
    export.SolverSettings(budget=100),
    jit_compile=False,
  )
  return tf.saved_model.load(str(export.find(folder)))


def blocks() -> list[dict[str, Any]]:
  found = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", README.read_text(), re.S)]
  assert len(found) == 4
  return found


def answer(model: Any, request: dict[str, Any]) -> dict[str, Any]:
  """What TensorFlow Serving makes of a request: rows in, rows out; columns in, columns out."""
  signature = model.signatures[request.get("signature_name", "serving_default")]
  specs = signature.structured_input_signature[1]
  if "instances" in request:
    rows = request["instances"]
    if len(specs) == 1 and not isinstance(rows[0], dict):  # one input needs no name
      rows = [{next(iter(specs)): row} for row in rows]
    columns = {name: [row[name] for row in rows] for name in specs}
  else:
    columns = request["inputs"]
  assert set(columns) == set(specs)
  tensors = {name: tf.constant(columns[name], spec.dtype) for name, spec in specs.items()}
  for name, spec in specs.items():
    assert spec.shape.is_compatible_with(tensors[name].shape)
  outputs = {name: value.numpy().tolist() for name, value in signature(**tensors).items()}
  if "inputs" in request:
    return {"outputs": outputs if len(outputs) > 1 else next(iter(outputs.values()))}
  count = len(request["instances"])
  return {
    "predictions": [{name: value[row] for name, value in outputs.items()} for row in range(count)]
  }


def test_requests_get_the_answers_of_the_readme(served: Any):
  solve, solved, distance, distances = blocks()
  assert answer(served, solve) == solved
  assert answer(served, distance) == distances


def test_plans_of_the_readme_solve(served: Any):
  solve, solved, *_ = blocks()
  for start, found in zip(solve["instances"], solved["predictions"], strict=True):
    plan = found["plan"][: found["length"]]
    assert base.NO_ACTION not in plan and set(found["plan"][found["length"] :]) <= {base.NO_ACTION}
    states = base.replay(toy_models.PUZZLE, np.uint8(start), plan)
    assert toy_models.PUZZLE.is_solved(states)[-1]


def test_a_request_that_names_no_signature_is_solved(served: Any):
  solve, solved, *_ = blocks()
  del solve["signature_name"]
  assert answer(served, solve) == solved


def test_the_readme_names_all_signatures_and_fields():
  text = README.read_text()
  fields = re.findall(r"^\| `(\w+)` \|", text.split("What a model says")[1], re.M)
  assert set(fields) == {"format", *export.Metadata.__dataclass_fields__}
  assert str(metadata_lib.FILE) in text
  signatures = re.findall(r"^\| `(\w+)`", text.split("## Signatures")[1].split("##")[0], re.M)
  assert signatures == ["solve", "distance", "embed", "embedding_distance"]
