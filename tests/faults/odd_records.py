"""Records of event and lineage files with odd bytes in one field, for every field that the messages have."""

import struct
from collections.abc import Iterator

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event, Summary

GOOD_STEPS = 5
TEXTS = (
    b"\xff\xfe", b"\xed\xa0\x80", b"\0", "\u202eabc\u2066".encode(), b"\x1b[31m\n\r", b"x" * 65_536, b"",
    b"=1+1", b"9" * 5000, b"a/" * 300, b'{"a": 1e999, "b": [' + b"9" * 5000 + b"]}",
    b'{"\\ud800": "\\udfff"}',
)  # fmt: skip
INTEGERS = (0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1)
FLOATS = (float("nan"), float("inf"), float("-inf"), 3.4e38, -0.0, 1e-45)
DOUBLES = (*FLOATS, 1.7e308, -1.7e308, 5e-324)

_FLOATS = {FieldDescriptor.TYPE_DOUBLE: ("<d", 1), FieldDescriptor.TYPE_FLOAT: ("<f", 5)}
_TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)

Way = tuple[FieldDescriptor, ...]


def ways(message: Descriptor) -> Iterator[Way]:
    """The fields from a message down to each that is no message; each once for a sort of payload."""
    known: set[tuple[str, str, str]] = set()
    for way in sorted(_ways(message), key=len):
        key = (content_of(way), way[-1].containing_type.full_name, way[-1].name)
        if key not in known:
            known.add(key)
            yield way


def _ways(message: Descriptor, outer: tuple[str, ...] = ()) -> Iterator[Way]:
    for field in message.fields:
        inner = field.message_type
        if inner is None:
            yield (field,)
        elif inner.full_name not in outer:
            yield from ((field, *rest) for rest in _ways(inner, (*outer, inner.full_name)))


def content_of(way: Way) -> str:
    """The field that says what an event is about, or its value."""
    if way[0].name != "summary":
        return way[0].name
    return way[2].name if len(way) > 3 else "scalar"


def odd_values(field: FieldDescriptor) -> tuple[bytes, ...]:
    """The field with each odd value, as it stands in its message."""
    if field.type in _TEXTS:
        return tuple(_sized(field.number, text) for text in TEXTS)
    if field.type in _FLOATS:
        form, wire = _FLOATS[field.type]
        numbers = DOUBLES if form == "<d" else FLOATS
        return tuple(varint(field.number << 3 | wire) + struct.pack(form, number) for number in numbers)
    return tuple(varint(field.number << 3) + varint(number) for number in INTEGERS)


def within(way: Way, content: bytes) -> bytes:
    """A field inside the messages of its way."""
    for field in reversed(way[:-1]):
        content = _sized(field.number, content)
    return content


def _sized(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def named(way: Way) -> str:
    return ".".join(field.name for field in way)


def good_records() -> bytes:
    events = [Event(wall_time=1.7e9 + step, step=step) for step in range(GOOD_STEPS)]
    for event in events:
        event.summary.value.add(tag="loss", scalar_value=event.step)
    return b"".join(encode_record(event.SerializeToString()) for event in events)


def good_event(content: str, step: int) -> Event:
    """An event with one whole payload, to which an odd field is added."""
    event = Event(wall_time=1.7e9 + step, step=step)
    if content == "graph_def":
        for number in range(2):
            node = event.graph_def.node.add(name=str(number), op_type="Add", full_name=f"Default/op{number}")
            node.input.add(name="0" if number else "data")
        event.graph_def.parameters.add(name="data")
    elif content in ("alert", "closing", "version"):
        {"alert": event.alert.SetInParent, "closing": event.closing.SetInParent, "version": str}[content]()
    else:
        _fill(event.summary.value.add(tag="t"), content)
    return event


def _fill(value: Summary.Value, content: str) -> None:
    if content == "image":
        value.image.height = value.image.width = value.image.colorspace = 1
        value.image.encoded_image = b"\x89PNG\r\n\x1a\n"
    elif content == "histogram":
        value.histogram.count = 3
        value.histogram.buckets.add(left=0.0, width=1.0, count=3)
    elif content == "tensor":
        _fill_tensor(value.tensor)
    elif content == "loss_landscape":
        for point in (value.loss_landscape.landscape, value.loss_landscape.loss_path.points):
            for tensor in (point.x, point.y, point.z):
                _fill_tensor(tensor)
        value.loss_landscape.loss_path.intervals.extend([1, 2])
    else:
        value.scalar_value = 1.0


def _fill_tensor(tensor: TensorProto) -> None:
    tensor.dims.extend([2, 2])
    tensor.data_type = 11
    tensor.float_data.extend(np.arange(4.0))


def event_runs() -> Iterator[tuple[str, bytes]]:
    """A name and the content of an event file for each field of an event: good records, then odd ones."""
    for way in ways(Event.DESCRIPTOR):
        content = content_of(way)
        records = [odd_event(way, content, value, step) for step, value in enumerate(odd_values(way[-1]))]
        if content == "graph_def":
            graph = good_event(content, 0).SerializeToString()
            records.append(graph + b"".join(within(way, value) for value in odd_values(way[-1])))
        yield named(way), good_records() + b"".join(map(encode_record, records))


def odd_event(way: Way, content: str, value: bytes, step: int) -> bytes:
    event = good_event(content, step)
    if way[0].name != "summary":
        return event.SerializeToString() + within(way, value)
    (good,) = event.summary.value
    odd = good.SerializeToString() + within(way[2:], value) if len(way) > 2 else value
    del event.summary.value[:]
    return event.SerializeToString() + _sized(way[0].number, _sized(way[1].number, odd))


def lineage_runs() -> Iterator[tuple[str, bytes]]:
    """The same of lineage files: a good record of the training, then one with an odd value after another."""
    for way in ways(LineageEvent.DESCRIPTOR):
        good = LineageEvent(wall_time=1.7e9)
        good.train_lineage.algorithm.network = "net"
        good.train_lineage.algorithm.loss = 0.25
        records = [good.SerializeToString()]
        base = good.SerializeToString() if way[0].name == "train_lineage" else b""
        records += [base + within(way, value) for value in odd_values(way[-1])]
        yield named(way), b"".join(map(encode_record, records))
