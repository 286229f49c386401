"""Validation of the values of ``add_value``: to numbers, arrays of our own and serialised messages."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding import images
from mindinsight.writer.encoding.events import LINEAGE_FIELDS, Item
from mindinsight.writer.encoding.jobs import LARGEST_EVENT
from mindinsight.writer.encoding.values import wire_size

ARRAY_KINDS: Final = ("image", "tensor", "histogram")
MESSAGE_KINDS: Final = ("graph", "landscape", *LINEAGE_FIELDS)


class TooLarge(ValueError):  # noqa: N818 - named as it reads
    """Error: with this value the step would be larger than a protobuf message may be."""


def tag(name: Any) -> str:
    """``name`` if it can be a tag: text that is not empty."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of a value must be a str and not empty, got {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the name of a value must be proper Unicode, got {name!r}") from error
    return name


def number(name: str, value: Any) -> float:
    """The one number in ``value``; integers beyond 2**53 are rounded to a float64."""
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError as error:
            raise ValueError(f"scalar '{name}': the integer is larger than any float64") from error
    values = _real(name, value).values
    if values.size != 1:
        raise ValueError(f"scalar '{name}' must have one element, got shape {values.shape}")
    return float(values.reshape(-1)[0])


def array(kind: str, name: str, value: Any, room: int, buffers: BufferPool) -> Item:
    """The array in ``value``, copied unless it is fresh. Raises TooLarge above ``room`` bytes of an event."""
    given = _real(name, value)
    shape = given.values.shape
    if kind == "image":
        images.check_shape(shape)
    elif not shape:
        raise ValueError(f"{kind} '{name}' must have at least one dimension, got a number")
    if kind == "tensor" and (size := wire_size(given.values)) > room:
        raise TooLarge(
            f"with these {size} bytes the step is larger than {LARGEST_EVENT} bytes, the most one can have"
        )
    fresh = not given.shared and given.values.flags.c_contiguous
    return Item(kind, name, given.values if fresh else buffers.copy(given.values), given.dtype)


def message(kind: str, name: str, value: Any) -> Item:
    """The message of ``kind`` in ``value``, serialised."""
    if kind == "graph":
        return Item(kind, name, _graph(value))
    from mindinsight.writer.encoding import lineage  # loads protobuf, which scalars do without

    return Item(kind, name, lineage.serialised(kind, value))


def _real(name: str, value: Any) -> HostArray:
    given = to_numpy(value)
    if given.values.dtype.kind == "c":
        raise TypeError(f"'{name}' holds complex numbers; record its parts or its magnitude")
    return given


def _graph(value: Any) -> bytes:
    """The GraphProto in ``value``: a ModelProto or its bytes, a network or a graph of ours."""
    from google.protobuf.message import DecodeError

    from mindinsight.proto.graph_pb2 import ModelProto
    from mindinsight.writer.network import graph_of

    if hasattr(value, "SerializeToString"):
        value = value.SerializeToString()
    elif not isinstance(value, (bytes, bytearray, memoryview)):
        value = graph_of(value)
    if value is None:
        raise TypeError("expected the bytes of a ModelProto, or a network whose graph can be seen")
    model = ModelProto()
    try:
        model.ParseFromString(bytes(value))
    except DecodeError as error:
        raise ValueError(f"these bytes are no ModelProto: {error}") from error
    if not model.HasField("graph"):
        raise ValueError("these bytes are no ModelProto: there is no graph in them")
    graph: bytes = model.graph.SerializeToString()
    return graph
