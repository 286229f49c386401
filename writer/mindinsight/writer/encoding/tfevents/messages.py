"""Encoder of TensorBoard's messages: events, values with their plugin metadata, tensors.

Field numbers are those of TensorFlow's event.proto, summary.proto and tensor.proto; the framing of a record
is the same as in MindSpore's files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding import wire

FILE_VERSION: Final = "brain.Event:2"
_EVENT_WALL, _EVENT_STEP, _EVENT_VERSION, _EVENT_GRAPH, _EVENT_SUMMARY = 1, 2, 3, 4, 5
_EVENT_SESSION, _EVENT_SOURCE = 7, 10
_VALUE_TAG, _VALUE_SIMPLE, _VALUE_TENSOR, _VALUE_METADATA = 1, 2, 8, 9
_TENSOR_DTYPE, _TENSOR_SHAPE, _TENSOR_CONTENT, _TENSOR_STRING = 1, 2, 4, 8
_SESSION_START, _SESSION_STOP = 1, 2  # SessionLog.SessionStatus

# DataType of types.proto by the name of an element type.
_STRING: Final = 7
_DATA_TYPES: Final = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9,
    "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


def version_record() -> bytes:
    """The record that opens a file."""
    source = wire.block(_EVENT_SOURCE, wire.block(1, b"mindinsight.writer"))
    version = wire.block(_EVENT_VERSION, FILE_VERSION.encode())
    return encode_record(wire.double(_EVENT_WALL, time.time()) + version + source)


def event(step: int, wall: float, body: bytes) -> bytes:
    """An Event with ``body``, the bytes of its remaining field. Step 0 is left out, as protobuf does."""
    at = wire.integer(_EVENT_STEP, step) if step else b""
    return b"".join((wire.double(_EVENT_WALL, wall), at, body))


def summary(values: Iterable[bytes]) -> bytes:
    """The field of an Event that holds Summary.Value messages."""
    return wire.block(_EVENT_SUMMARY, b"".join([wire.block(1, value) for value in values]))


def graph(definition: bytes) -> bytes:
    """The field of an Event that holds a serialised GraphDef."""
    return wire.block(_EVENT_GRAPH, definition)


def session_start() -> bytes:
    """The field of an Event from whose step on readers forget older points."""
    return wire.block(_EVENT_SESSION, wire.integer(1, _SESSION_START))


def closing_record() -> bytes:
    """The record that ends a file: the session stopped. TensorBoard passes over it."""
    stopped = wire.block(_EVENT_SESSION, wire.integer(1, _SESSION_STOP))
    return encode_record(event(0, time.time(), stopped))


def value(tag: str, body: bytes) -> bytes:
    """A Summary.Value of ``body``, the bytes of its remaining fields."""
    return wire.block(_VALUE_TAG, tag.encode()) + body


def scalar(tag: str, number: float) -> bytes:
    """A Summary.Value with a float32; a magnitude beyond float32 becomes infinite."""
    with np.errstate(over="ignore"):
        return value(tag, wire.single(_VALUE_SIMPLE, float(np.float32(number))))


def metadata(plugin: str, content: bytes = b"") -> bytes:
    """The field of a Summary.Value that names the plugin to show it with, and that plugin's data."""
    data = wire.block(1, plugin.encode()) + (wire.block(2, content) if content else b"")
    return wire.block(_VALUE_METADATA, wire.block(1, data))


def tensor(values: npt.NDArray[Any], dtype: str = "") -> bytes:
    """The field of a Summary.Value that holds an array, bit-exact.

    ``dtype`` is the type the values had before NumPy saw them: "bfloat16" comes as float32 and leaves as
    bfloat16. Other types that NumPy does not know keep their values and become float32.
    """
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, "<f4").view("<u4") >> np.uint32(16)
        return _tensor(_DATA_TYPES[dtype], values.shape, bits.astype("<u2").tobytes())
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return _tensor(_DATA_TYPES[values.dtype.name], values.shape, little.tobytes())


def strings(texts: Sequence[bytes], shape: Sequence[int]) -> bytes:
    """The field of a Summary.Value that holds a tensor of byte strings."""
    content = b"".join([wire.block(_TENSOR_STRING, text) for text in texts])
    return wire.block(_VALUE_TENSOR, _head(_STRING, shape) + content)


def tensor_shape(shape: Iterable[int]) -> bytes:
    """A TensorShapeProto."""
    return b"".join([wire.block(2, wire.integer(1, size)) for size in shape])


def _tensor(dtype: int, shape: Sequence[int], content: bytes) -> bytes:
    return wire.block(_VALUE_TENSOR, _head(dtype, shape) + wire.block(_TENSOR_CONTENT, content))


def _head(dtype: int, shape: Sequence[int]) -> bytes:
    return wire.integer(_TENSOR_DTYPE, dtype) + wire.block(_TENSOR_SHAPE, tensor_shape(shape))
