"""Encoder of tensors (TensorProto in graph.proto)."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import ArrayEncoder, Item
from mindinsight.writer.encoding.wire import json_number

_FLOAT_DATA, _RAW_DATA = 3, 8  # fields of TensorProto in graph.proto
# graph.proto DataType. A type without a number is stored as a type that can hold its values.
_DATA_TYPES: Final = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8,
    "uint64": 9, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 46,
}  # fmt: skip
_HELD_BY_FLOAT32: Final = frozenset({"bool", "int8", "int16", "uint8", "uint16", "float16", "float32"})
_DENSE_INTEGERS: Final = 1 << 24  # float32 holds the integers up to it without gaps
_LISTED: Final = 1000  # elements of a tensor that are facts


class TensorEncoder(ArrayEncoder):
    """Encoder of arrays of one dimension or more."""

    def size(self, item: Item) -> int:
        """Return an upper bound in bytes of the array of ``item`` in an event."""
        assert not isinstance(item.payload, bytes)
        return wire_size(item.payload)

    def array_message(self, values: npt.NDArray[Any], dtype: str) -> bytes:
        """Return a TensorProto with ``values`` as ``float_data``. They are also stored bit-exact as
        ``raw_data`` if float32 would change one."""
        floats = _as_float32(values)
        parts = [
            wire.packed_integers(1, values.shape) if values.shape else b"",
            wire.integer(2, _DATA_TYPES.get(dtype) or _DATA_TYPES[values.dtype.name]),
            wire.block(_FLOAT_DATA, _bytes(floats)),
        ]
        if not _same(values, floats):
            parts.append(wire.block(_RAW_DATA, _bytes(values)))
        return b"".join(parts)

    def facts(self, message: Any) -> dict[str, Any]:
        """Return ``shape``, ``count``, ``not_finite`` (number of non-finite elements), ``min``, ``max``
        and ``mean`` of the finite ones, and up to 1000 elements as ``values``. Without finite elements,
        minimum, maximum and mean are missing. ``values`` is missing if there are more elements."""
        numbers = np.asarray(message.float_data, dtype=np.float64)
        finite = numbers[np.isfinite(numbers)]
        facts: dict[str, Any] = {
            "shape": list(message.dims),
            "count": numbers.size,
            "not_finite": numbers.size - finite.size,
        }
        if finite.size:
            facts.update(min=float(finite.min()), max=float(finite.max()), mean=float(finite.mean()))
        if numbers.size <= _LISTED:
            facts["values"] = [json_number(number) for number in numbers.tolist()]
        return facts


def wire_size(values: npt.NDArray[Any]) -> int:
    """Return an upper bound in bytes of ``values`` stored as a tensor."""
    exact = 0 if values.dtype.name in _HELD_BY_FLOAT32 else values.nbytes
    return 4 * values.size + exact + 64 + 10 * values.ndim


def _as_float32(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype("<f4", copy=False)


def _same(values: npt.NDArray[Any], floats: npt.NDArray[np.float32]) -> bool:
    """Return True if every element of ``values`` equals its element of ``floats``."""
    if values.dtype.name in _HELD_BY_FLOAT32:
        return True
    if values.dtype.kind == "f":
        return bool(np.array_equal(values, floats, equal_nan=True))
    # By bounds, as comparing after a cast could wrap around.
    return not values.size or bool(values.max() <= _DENSE_INTEGERS and values.min() >= -_DENSE_INTEGERS)


def _bytes(values: npt.NDArray[Any]) -> memoryview:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return memoryview(little.reshape(-1).view(np.uint8).data)


ENCODER: Final = TensorEncoder("tensor")
