"""Transcoder of TensorFlow payloads to the messages that our writer would have written."""

import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.proto.summary_pb2 import Summary
from mindinsight.proto.tensorboard_pb2 import HistogramProto
from mindinsight.server.formats.media_types import picture_type, sound_type
from mindinsight.server.formats.read_limits import UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.tensorboard import tensor_proto
from mindinsight.server.formats.tensorboard.summary_values import AUDIO, HISTO, TENSOR
from mindinsight.server.formats.wire_format import last_field, message_fields
from mindinsight.server.types import Doubles

_MAX_COUNT: Final = float(1 << 62)


def _legacy_histogram(proto: HistogramProto) -> Summary.Histogram:
    """Return a HistogramProto as our histogram message. Raises UnreadableError."""
    limits, counts = np.array(proto.bucket_limit), np.array(proto.bucket)
    if len(limits) != len(counts):
        raise UnreadableError("payload.shape", f"histogram of {len(counts)} counts and {len(limits)} edges")
    low, high = proto.min, proto.max
    filled = np.flatnonzero(counts > 0)
    first, last = (int(filled[0]), int(filled[-1]) + 1) if len(filled) else (0, 0)
    inner = limits[first : max(last - 1, first)]
    if len(filled) and (np.isnan(low) or np.isnan(high)):  # writers count NaN, and put it into no bucket
        low, high = float(limits[max(first - 1, 0)]), float(limits[last - 1])
    lost = proto.num - float(counts.sum()) if np.isnan(proto.sum) else 0.0
    left = np.concatenate([[low], inner])[: last - first]
    right = np.concatenate([inner, [high]])[: last - first]
    return _histogram_of(left, right, counts[first:last], (low, high, proto.sum), proto.num, lost)


def _tensor_histogram(payload: bytes) -> Summary.Histogram:
    """Return a value with a tensor of buckets [n, 3] as our histogram message. Raises UnparsableError or
    UnreadableError."""
    tensor = _tensor_of(payload)
    if len(tensor.shape) != 2 or tensor.shape[1] != 3:
        raise UnreadableError("payload.shape", f"histogram of shape {tensor.shape}")
    left, right, counts = tensor_proto.numbers(payload, tensor).astype(np.float64).reshape(-1, 3).T
    filled = np.flatnonzero(counts > 0)
    low = float(left[filled[0]]) if len(filled) else 0.0
    high = float(right[filled[-1]]) if len(filled) else 0.0
    return _histogram_of(left, right, counts, (low, high, float("nan")), float(counts.sum()))


def _histogram_of(
    left: Doubles,
    right: Doubles,
    counts: Doubles,
    extremes: tuple[float, float, float],
    number: float,
    lost: float = 0.0,
) -> Summary.Histogram:
    """Return a histogram message with these buckets. ``extremes`` are smallest value, largest value and
    sum, NaN for an unknown sum. ``lost`` of the ``number`` values are NaN."""
    whole = np.rint(np.clip(np.nan_to_num(counts), -_MAX_COUNT, _MAX_COUNT)).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        widths = right - left
    count, nan = (int(np.rint(np.clip(np.nan_to_num(value), 0, _MAX_COUNT))) for value in (number, lost))
    low, high, total = extremes
    histogram = Summary.Histogram(nan_count=nan, max=high, min=low, sum=total, count=count)
    for begin, width, size in zip(left.tolist(), widths.tolist(), whole.tolist(), strict=True):
        histogram.buckets.add(left=begin, width=width, count=size)
    return histogram


_ENCODED_AUDIO: Final = 4 << 3 | 2


def transcode(kind: str, payload: bytes) -> bytes:
    """Return the payload of a TensorBoard file as a message of our format, or unchanged for a kind that is
    not transcoded. Raises UnreadableError if the payload is invalid."""
    make = _TRANSCODERS.get(kind)
    if make is None:
        return payload
    with unreadable("payload.unparsable", kind, DecodeError, struct.error, ValueError):
        content = make(payload)
        return bytes(content if isinstance(content, bytes) else content.SerializeToString())


def _image(payload: bytes) -> Summary.Image | bytes:
    """Return a bare picture as a message. Messages have the fields of ours."""
    return payload if picture_type(payload) is None else Summary.Image(encoded_image=payload)


def _tensor(payload: bytes) -> TensorProto:
    """Return the tensor of a value. Raises UnparsableError or UnreadableError."""
    tensor = _tensor_of(payload)
    if tensor.dtype == tensor_proto.STRING:
        raise UnreadableError("payload.unparsable", "a tensor of texts")
    flat = tensor_proto.numbers(payload, tensor)
    data_type = DataType.Value(tensor_proto.TYPES[tensor.dtype][1])
    return TensorProto(dims=tensor.shape, data_type=data_type, raw_data=flat.tobytes())


def _histogram(payload: bytes) -> Summary.Histogram:
    """Return the histogram of a value. Raises DecodeError, UnparsableError or UnreadableError."""
    if span := last_field(payload, 0, len(payload), HISTO):
        return _legacy_histogram(HistogramProto.FromString(payload[slice(*span)]))
    return _tensor_histogram(payload)


def _text(payload: bytes) -> Summary.Text:
    """Return a single string, or several as a Markdown table as TensorBoard shows them."""
    tensor = _tensor_of(payload)
    texts = [payload[start:stop] for start, stop in tensor.strings]
    if len(texts) == 1:
        return Summary.Text(content=show_text(texts[0]))
    columns = max(tensor.shape[-1] if len(tensor.shape) > 1 else 1, 1)
    cells = [b" ".join(text.replace(b"|", b"\\|").split(b"\n")) for text in texts]
    rows = [b"| " + b" | ".join(cells[at : at + columns]) + b" |" for at in range(0, len(cells), columns)]
    head = b"|" + b"   |" * columns + b"\n|" + b" --- |" * columns
    return Summary.Text(content=show_text(b"\n".join([head, *rows])))


def _audio(payload: bytes) -> Summary.Audio:
    """Return the encoded sound with its label, from a sound message, one or two strings, or a bare sound."""
    encoded, *label = [payload] if sound_type(payload) is not None else _sound_and_label(payload)
    return Summary.Audio(encoded=encoded, label=show_text(label[0]) if label and label[0] else None)


def _sound_and_label(payload: bytes) -> list[bytes]:
    """Return the encoded sound and its label if there is one."""
    strings = []
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key == AUDIO:
            sound = last_field(payload, start, stop, _ENCODED_AUDIO)
            return [payload[slice(*sound)] if sound else b""]
        if key == tensor_proto.STRING_VALUE:
            strings.append(payload[start:stop])
    return strings or [b""]


def _layout(payload: bytes) -> bytes:
    """Return the charts, which are a message in a tensor of one string."""
    return b"".join(payload[start:stop] for start, stop in _tensor_of(payload).strings[-1:])


def _graph(payload: bytes) -> bytes:
    """Return the GraphProto of a GraphDef. Raises UnreadableError."""
    from mindinsight.server.formats.tensorboard.graph_def import graph_message  # few runs have graphs

    return graph_message(payload)


def _tensor_of(payload: bytes) -> tensor_proto.TensorFields:
    """Parse the tensor of a value. Raises UnreadableError if it has none."""
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key == TENSOR:
            return tensor_proto.tensor_fields(payload, start, stop)
    raise UnreadableError("payload.unparsable", "a value without a tensor")


_TRANSCODERS: Final[dict[str, Callable[[bytes], Any]]] = {  # to a message, or to its bytes
    "image": _image,
    "tensor": _tensor,
    "pr_curve": _tensor,
    "histogram": _histogram,
    "text": _text,
    "audio": _audio,
    "layout": _layout,
    "graph": _graph,
}
