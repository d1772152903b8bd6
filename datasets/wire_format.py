"""Writes `tf.train.Example` records straight in protobuf's wire format.

Building a record through TFDS's features and a proto object loops over the steps in Python: a few
hundred records a second. Here a column is packed by NumPy at once, and what comes before its values
depends on their number alone, so it is made once for many records. A record is the concatenation of
its features (`Features.feature` is a map, so each is a field of its own). From the inside out:

  Int64List, FloatList  value = 1, packed
  Feature               float_list = 2, int64_list = 3
  entry of the map      key = 1, value = 2
  Features              feature = 1
  Example               features = 1
"""

import functools
from collections.abc import Callable, Iterable

import numpy as np

_FLOAT_LIST, _INT64_LIST = 2, 3
_LENGTH_DELIMITED = 2  # wire type of strings, messages and packed numbers
_PAYLOAD_BITS = 7  # of each byte of a varint; the eighth says that more bytes follow
_CONTINUATION = 1 << _PAYLOAD_BITS
_MAX_VARINT_BYTES = 10


def int64_feature(name: str, packed: bytes) -> bytes:
  """The feature `name` with integers that one of the functions below has packed."""
  return _head(name, _INT64_LIST, len(packed)) + packed


def float_feature(name: str, values: np.ndarray) -> bytes:
  """The feature `name` with numbers of any shape, flattened and stored as float32."""
  packed = np.asarray(values, "<f4").tobytes()
  return _head(name, _FLOAT_LIST, len(packed)) + packed


def example(features: Iterable[bytes]) -> bytes:
  """A serialized `tf.train.Example` of features made by the functions above."""
  joined = b"".join(features)
  return _tag(1) + varint(len(joined)) + joined


def varint_packer(values: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], bytes]]:
  """Prepares an array of integers whose parts are to be packed one by one.

  Returns:
    The array, possibly in another dtype, and the fastest function that packs parts of it.
  """
  if _are_single_bytes(values):
    return values.astype(np.uint8), np.ndarray.tobytes  # small numbers are their own varints
  return values, pack_varints


def pack_varints(values: np.ndarray) -> bytes:
  """Integers (or booleans) of any shape as consecutive varints.

  Negative ones are taken modulo 2^64 and so take ten bytes, as protobuf has it.
  """
  values = np.asarray(values)
  if _are_single_bytes(values):
    return values.astype(np.uint8).tobytes()
  flat = values.reshape(-1).astype(np.int64).view(np.uint64)
  shifts = np.arange(_MAX_VARINT_BYTES, dtype=np.uint64) * np.uint64(_PAYLOAD_BITS)
  rest = flat[:, None] >> shifts  # [N, 10] what is left of a value from each of its bytes on
  needed = rest != 0
  needed[:, 0] = True  # zero takes a byte too
  groups = (rest & np.uint64(_CONTINUATION - 1)).astype(np.uint8)
  groups[:, :-1] |= needed[:, 1:] * np.uint8(_CONTINUATION)
  return groups[needed].tobytes()


def varint(value: int) -> bytes:
  """One integer that is not negative; for so little `pack_varints` would take long."""
  groups = bytearray()
  while value >= _CONTINUATION:
    groups.append(value & (_CONTINUATION - 1) | _CONTINUATION)
    value >>= _PAYLOAD_BITS
  groups.append(value)
  return bytes(groups)


def _are_single_bytes(values: np.ndarray) -> bool:
  return values.size == 0 or (values.min() >= 0 and values.max() < _CONTINUATION)


@functools.lru_cache(maxsize=1 << 14)
def _head(name: str, kind: int, size: int) -> bytes:
  """All that comes before the `size` bytes of packed values of a feature."""
  head = b""
  # Protobuf leaves out a packed field that is empty.
  for field in (1, kind, 2) if size else (kind, 2):
    head = _tag(field) + varint(len(head) + size) + head
  key = name.encode()
  head = _tag(1) + varint(len(key)) + key + head
  return _tag(1) + varint(len(head) + size) + head


def _tag(field: int) -> bytes:
  return bytes((field << 3 | _LENGTH_DELIMITED,))
