"""Encoder of TensorBoard's event files: events, values, hyper-parameters and framed records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding import histograms, media, wire
from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.encoding.histograms import CountedHistogram
from mindinsight.writer.encoding.media import Sound
from mindinsight.writer.encoding.scalars import Failed

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
    """Return the first record of a file."""
    source = wire.block(_EVENT_SOURCE, wire.block(1, b"mindinsight.writer"))
    version = wire.block(_EVENT_VERSION, FILE_VERSION.encode())
    return encode_record(wire.double(_EVENT_WALL, time.time()) + version + source)


def encode_event(step: int, wall: float, body: bytes) -> bytes:
    """Return an Event with ``body``, the bytes of its remaining field. Step 0 is omitted, as in protobuf."""
    at = wire.integer(_EVENT_STEP, step) if step else b""
    return b"".join((wire.double(_EVENT_WALL, wall), at, body))


def encode_summary(values: Iterable[bytes]) -> bytes:
    """Return the field of an Event with Summary.Value messages."""
    return wire.block(_EVENT_SUMMARY, b"".join([wire.block(1, value) for value in values]))


def encode_graph(definition: bytes) -> bytes:
    """Return the field of an Event with a serialised GraphDef."""
    return wire.block(_EVENT_GRAPH, definition)


def session_start_record() -> bytes:
    """Return the field of an Event that makes readers discard older points from its step on."""
    return wire.block(_EVENT_SESSION, wire.integer(1, _SESSION_START))


def closing_record() -> bytes:
    """Return the last record of a file: the session stopped. TensorBoard ignores it."""
    stopped = wire.block(_EVENT_SESSION, wire.integer(1, _SESSION_STOP))
    return encode_record(encode_event(0, time.time(), stopped))


def encode_value(tag: str, body: bytes) -> bytes:
    """Return a Summary.Value with ``body``, the bytes of its remaining fields."""
    return wire.block(_VALUE_TAG, tag.encode()) + body


def encode_scalar(tag: str, number: float) -> bytes:
    """Return a Summary.Value with a float32. A magnitude beyond float32 becomes infinite."""
    with np.errstate(over="ignore"):
        return encode_value(tag, wire.single(_VALUE_SIMPLE, float(np.float32(number))))


def encode_metadata(plugin: str, content: bytes = b"") -> bytes:
    """Return the field of a Summary.Value with the name of its plugin and the plugin's data."""
    data = wire.block(1, plugin.encode()) + (wire.block(2, content) if content else b"")
    return wire.block(_VALUE_METADATA, wire.block(1, data))


def encode_tensor_proto(values: npt.NDArray[Any], dtype: str = "") -> bytes:
    """Return the field of a Summary.Value with an array, bit-exact.

    ``dtype`` is the original type of the values: "bfloat16" arrives as float32 and is written as bfloat16.
    Other types unknown to NumPy are written as float32 with the same values.
    """
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, "<f4").view("<u4") >> np.uint32(16)
        return _tensor(_DATA_TYPES[dtype], values.shape, bits.astype("<u2").tobytes())
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return _tensor(_DATA_TYPES[values.dtype.name], values.shape, little.tobytes())


def encode_strings(texts: Sequence[bytes], shape: Sequence[int]) -> bytes:
    """Return the field of a Summary.Value with a tensor of byte strings."""
    content = b"".join([wire.block(_TENSOR_STRING, text) for text in texts])
    return wire.block(_VALUE_TENSOR, _head(_STRING, shape) + content)


def tensor_shape(shape: Iterable[int]) -> bytes:
    """Return a TensorShapeProto."""
    return b"".join([wire.block(2, wire.integer(1, size)) for size in shape])


def _tensor(dtype: int, shape: Sequence[int], content: bytes) -> bytes:
    return wire.block(_VALUE_TENSOR, _head(dtype, shape) + wire.block(_TENSOR_CONTENT, content))


def _head(dtype: int, shape: Sequence[int]) -> bytes:
    return wire.integer(_TENSOR_DTYPE, dtype) + wire.block(_TENSOR_SHAPE, tensor_shape(shape))


_IMAGE, _HISTOGRAM, _AUDIO = 4, 5, 6  # fields of Summary.Value


def image_value(batch: npt.NDArray[np.uint8]) -> bytes:
    """Return ``batch`` (N, C, H, W) as one PNG, eight images a row. Gray images become RGB, as in torch."""
    pixels = media.canvas(batch)
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    height, width, channels = pixels.shape
    fields = (wire.integer(1, height), wire.integer(2, width), wire.integer(3, channels))
    return wire.block(_IMAGE, b"".join((*fields, wire.block(4, media.encode(pixels)))))


def histogram_value(counted: CountedHistogram) -> bytes:
    """Return the fields of a Summary.Value with a distribution (HistogramProto)."""
    fields = (
        wire.double(1, counted.low),
        wire.double(2, counted.high),
        wire.double(3, counted.count),
        wire.double(4, counted.total),
        wire.double(5, counted.squares),
        wire.block(6, counted.limits.astype("<f8").tobytes()),
        wire.block(7, counted.counts.astype("<f8").tobytes()),
    )
    return wire.block(_HISTOGRAM, b"".join(fields))


def audio_value(sound: Sound) -> bytes:
    """Return the fields of a Summary.Value with a WAV file."""
    fields = (
        wire.single(1, sound.rate),
        wire.integer(2, sound.channels),
        wire.integer(3, sound.frames),
        wire.block(4, sound.wav),
        wire.block(5, b"audio/wav"),
    )
    return wire.block(_AUDIO, b"".join(fields))


def text_value(words: bytes) -> bytes:
    """Return the fields of a Summary.Value with Markdown, as a tensor of one UTF-8 string."""
    return encode_metadata("text") + encode_strings([words], (1,))


def tensor_scalar(number: float, double: bool) -> bytes:
    """Return a scalar in TensorFlow 2's form: a tensor without dimensions."""
    with np.errstate(over="ignore"):
        return encode_metadata("scalars") + encode_tensor_proto(np.asarray(number, "f8" if double else "f4"))


def tensor_value(values: npt.NDArray[Any], dtype: str) -> bytes:
    """Return the fields of a Summary.Value with an array of any shape."""
    return encode_metadata("tensor") + encode_tensor_proto(values, dtype)


def pr_curve_value(rows: npt.NDArray[Any]) -> bytes:
    """Return the fields of a Summary.Value with a precision-recall curve.

    ``rows`` [6, thresholds]: true and false positives, true and false negatives, precision, recall.
    """
    content = wire.integer(2, rows.shape[1])
    return encode_metadata("pr_curves", content) + encode_tensor_proto(rows.astype("<f4"))


def layout_value(charts: bytes) -> bytes:
    """Return the charts of the custom scalars page, encoded by ``chart_layouts.encode``."""
    return encode_metadata("custom_scalars") + encode_strings([charts], ())


HyperParameter: TypeAlias = bool | int | float | str
_TAG: Final = "_hparams_/{}"
_EXPERIMENT, _SESSION_START_FIELD, _SESSION_END = 2, 3, 4  # fields of HParamsPluginData
_TEXT, _BOOLEAN, _NUMBER = 1, 2, 3  # DataType of the plugin
_SUCCESS: Final = 1


def encode_experiment(
    parameters: Mapping[str, HyperParameter],
    metrics: Iterable[str],
    domains: Mapping[str, Sequence[HyperParameter]],
) -> bytes:
    """Return a Summary.Value that declares hyper-parameters, their possible values, and metrics."""
    declared = [
        wire.block(4, _declaration(name, value, domains.get(name))) for name, value in parameters.items()
    ]
    named = [wire.block(5, wire.block(1, wire.block(2, metric.encode()))) for metric in metrics]
    return _hparam_value("experiment", _EXPERIMENT, b"".join((*declared, *named)))


def encode_session_start(parameters: Mapping[str, HyperParameter]) -> bytes:
    """Return a Summary.Value with the hyper-parameters of a session."""
    entries = [
        wire.block(1, wire.block(1, name.encode()) + wire.block(2, _struct_value(value)))
        for name, value in parameters.items()
    ]
    return _hparam_value("session_start_info", _SESSION_START_FIELD, b"".join(entries))


def encode_session_end() -> bytes:
    """Return a Summary.Value for the successful end of a session."""
    return _hparam_value("session_end_info", _SESSION_END, wire.integer(1, _SUCCESS))


def _declaration(name: str, value: HyperParameter, domain: Sequence[HyperParameter] | None) -> bytes:
    values = b"" if domain is None else b"".join([wire.block(1, _struct_value(choice)) for choice in domain])
    choices = b"" if domain is None else wire.block(5, values)
    return wire.block(1, name.encode()) + wire.integer(4, _data_type(value)) + choices


def _data_type(value: HyperParameter) -> int:
    if isinstance(value, bool):
        return _BOOLEAN
    return _TEXT if isinstance(value, str) else _NUMBER


def _struct_value(value: HyperParameter) -> bytes:
    """Return a google.protobuf.Value."""
    if isinstance(value, bool):
        return wire.integer(4, value)
    return wire.block(3, value.encode()) if isinstance(value, str) else wire.double(2, value)


def _hparam_value(name: str, field: int, content: bytes) -> bytes:
    return encode_value(_TAG.format(name), encode_metadata("hparams", wire.block(field, content)))


# Kinds of items that are bytes: fields of a Summary.Value except its tag, a whole one, a field of an Event,
# and a text in UTF-8.
FIELDS: Final = "fields"
VALUE: Final = "value"
EVENT: Final = "event"
TEXT: Final = "text"


def encode_jobs(jobs: Sequence[Job], failed: Failed) -> list[bytes]:
    """Return a framed record for each job in order, empty if no value of the job could be encoded."""
    return [encode_record(body) if (body := _event(job, failed)) else b"" for job in jobs]


def _event(job: Job, failed: Failed) -> bytes:
    step, wall, pairs, items, _ = job
    if items and items[0].kind == EVENT:
        return encode_event(step, wall, bytes(items[0].payload))
    encoded = [encode_scalar(tag, number) for tag, number in zip(pairs[::2], pairs[1::2], strict=True)]
    for item in items:
        try:
            encoded.append(_value(item))
        except Exception as error:  # noqa: BLE001, RUF100 - one value must not take the others with it
            failed(error, item, step)
    event = encode_event(step, wall, encode_summary(encoded)) if encoded else b""
    if len(event) > LARGEST_EVENT:
        for item in items:
            failed(ValueError(f"the step has {len(event)} bytes, more than {LARGEST_EVENT}"), item, step)
        return b""
    return event


def _value(item: Item) -> bytes:
    if isinstance(item.payload, bytes):
        if item.kind == TEXT:
            return encode_value(item.tag, text_value(item.payload))
        return item.payload if item.kind == VALUE else encode_value(item.tag, item.payload)
    if item.kind == "histogram":
        return encode_value(item.tag, histogram_value(histograms.count(item.payload)))
    body = image_value(item.payload) if item.kind == "image" else tensor_value(item.payload, item.dtype)
    return encode_value(item.tag, body)
