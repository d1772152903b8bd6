"""Our bytes parse to the very protos that protobuf itself would have written."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from crtr_tf.datasets import wire_format

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)


def _int64_proto(values: list[int]) -> tf.train.Feature:
  return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _float_proto(values: list[float]) -> tf.train.Feature:
  return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _example_proto(features: dict[str, tf.train.Feature]) -> tf.train.Example:
  return tf.train.Example(features=tf.train.Features(feature=features))


@given(st.text(), st.lists(INT64), st.text(), st.lists(FLOAT32))
def test_examples_parse_to_the_proto(int_name, integers, float_name, floats):
  packed = wire_format.pack_varints(np.array(integers, np.int64))
  features = {
    int_name: (wire_format.int64_feature(int_name, packed), _int64_proto(integers)),
    float_name: (wire_format.float_feature(float_name, np.array(floats)), _float_proto(floats)),
  }
  written = wire_format.example(ours for ours, _ in features.values())
  expected = _example_proto({name: proto for name, (_, proto) in features.items()})
  assert tf.train.Example.FromString(written) == expected


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384, 40_000])
def test_lengths_of_any_number_of_bytes(size):
  values = np.arange(size) % 100
  feature = wire_format.int64_feature("name", wire_format.pack_varints(values))
  expected = _example_proto({"name": _int64_proto(values.tolist())})
  assert wire_format.example([feature]) == expected.SerializeToString()


@given(st.integers(0, 2**63 - 1))
def test_one_varint_is_packed_as_in_an_array(value):
  assert wire_format.varint(value) == wire_format.pack_varints(np.array([value]))


@pytest.mark.parametrize("largest", [127, 129, 255])
def test_parts_of_an_array_are_packed_as_on_their_own(largest):
  values = np.arange(largest + 1, dtype=np.uint8).reshape(-1, 2)
  prepared, pack = wire_format.varint_packer(values)
  for row in (0, 20, -1):
    assert pack(prepared[row:]) == wire_format.pack_varints(values[row:])
