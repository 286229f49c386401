"""Transcoder of TensorFlow payloads to the messages that our writer would have written."""

import struct
from collections.abc import Callable
from typing import Final

import numpy as np

from mindinsight.proto.graph_pb2 import DataType
from mindinsight.server.formats.media_types import picture_size, picture_type, sound_type
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.tensorboard import tensor_proto
from mindinsight.server.formats.tensorboard.summary_values import AUDIO, HISTO, TENSOR
from mindinsight.server.formats.wire_format import UnparsableError, last_field, message_fields
from mindinsight.server.types import Doubles


def varint(number: int) -> bytes:
    """Encode an int64 or uint64."""
    number &= (1 << 64) - 1
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


def integer(field: int, number: int) -> bytes:
    """Encode an integer field."""
    return varint(field << 3) + varint(number)


def double(field: int, number: float) -> bytes:
    """Encode a float64 field."""
    return varint(field << 3 | 1) + struct.pack("<d", number)


def message(field: int, content: bytes) -> bytes:
    """Encode a field of a message, a text or bytes."""
    return varint(field << 3 | 2) + varint(len(content)) + content


_MIN, _MAX, _NUM, _SUM = (number << 3 | 1 for number in (1, 2, 3, 4))
_LIMITS, _COUNTS = 6, 7  # numbers of the fields
_MAX_COUNT: Final = float(1 << 62)


def histogram_message(data: bytes, at: int, end: int, legacy: bool) -> bytes:
    """Return the Summary.Histogram of the message in ``data[at:end]``.

    ``legacy`` means a HistogramProto, otherwise a tensor. Raises UnparsableError or UnreadableError.
    """
    return _from_proto(data, at, end) if legacy else _from_tensor(data, at, end)


def _from_proto(data: bytes, at: int, end: int) -> bytes:
    """Transcode a HistogramProto. Raises UnparsableError or UnreadableError."""
    facts = dict.fromkeys((_MIN, _MAX, _NUM, _SUM), 0.0)
    columns: dict[int, list[bytes]] = {_LIMITS: [], _COUNTS: []}
    for key, start, stop in message_fields(data, at, end):
        if key in facts:
            facts[key] = float(np.frombuffer(data, "<f8", 1, start)[0])
        elif key >> 3 in columns and (stop - start) % 8 == 0:
            columns[key >> 3].append(data[start:stop])
    limits, counts = (np.frombuffer(b"".join(columns[number]), "<f8") for number in (_LIMITS, _COUNTS))
    if len(limits) != len(counts):
        raise UnreadableError("payload.shape", f"histogram of {len(counts)} counts and {len(limits)} edges")
    low, high = facts[_MIN], facts[_MAX]
    filled = np.flatnonzero(counts > 0)
    first, last = (int(filled[0]), int(filled[-1]) + 1) if len(filled) else (0, 0)
    inner = limits[first : max(last - 1, first)]
    lost = 0.0
    if len(filled) and (np.isnan(low) or np.isnan(high)):  # writers count NaN, and put it into no bucket
        low, high = float(limits[max(first - 1, 0)]), float(limits[last - 1])
    if np.isnan(facts[_SUM]):
        lost = facts[_NUM] - float(counts.sum())
    left = np.concatenate([[low], inner])[: last - first]
    right = np.concatenate([inner, [high]])[: last - first]
    return _message(left, right, counts[first:last], (low, high, facts[_SUM]), facts[_NUM], lost)


def _from_tensor(data: bytes, at: int, end: int) -> bytes:
    """Transcode a tensor of buckets [n, 3]. Raises UnparsableError or UnreadableError."""
    tensor = tensor_proto.tensor_fields(data, at, end)
    if len(tensor.shape) != 2 or tensor.shape[1] != 3:
        raise UnreadableError("payload.shape", f"histogram of shape {tensor.shape}")
    left, right, counts = tensor_proto.numbers(data, tensor).astype(np.float64).reshape(-1, 3).T
    filled = np.flatnonzero(counts > 0)
    low = float(left[filled[0]]) if len(filled) else 0.0
    high = float(right[filled[-1]]) if len(filled) else 0.0
    return _message(left, right, counts, (low, high, float("nan")), float(counts.sum()))


def _message(
    left: Doubles,
    right: Doubles,
    counts: Doubles,
    extremes: tuple[float, float, float],
    number: float,
    lost: float = 0.0,
) -> bytes:
    """Encode a histogram. ``extremes`` are smallest value, largest value and sum, NaN for an unknown sum.

    ``lost`` of the ``number`` values are NaN.
    """
    whole = np.rint(np.clip(np.nan_to_num(counts), -_MAX_COUNT, _MAX_COUNT)).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        widths = right - left
    buckets = b"".join(
        message(1, double(1, begin) + double(2, width) + integer(3, count))
        for begin, width, count in zip(left.tolist(), widths.tolist(), whole.tolist(), strict=True)
    )
    low, high, total = extremes
    count, nan = (int(np.rint(np.clip(np.nan_to_num(value), 0, _MAX_COUNT))) for value in (number, lost))
    return buckets + integer(2, nan) + double(5, high) + double(6, low) + double(7, total) + integer(8, count)


_ENCODED_AUDIO: Final = 4 << 3 | 2


def transcode(kind: str, payload: bytes) -> bytes:
    """Return the payload of a TensorBoard file as a message of ours. Raises UnreadableError."""
    make = _TRANSCODERS.get(kind)
    if make is None:
        return payload
    try:
        return make(payload)
    except (UnparsableError, struct.error, ValueError) as error:
        raise UnreadableError("payload.unparsable", f"{kind}: {error}") from error


def _image(payload: bytes) -> bytes:
    """Return a Summary.Image, which is the same in both formats. A bare picture gets its size added."""
    if picture_type(payload) is None:
        return payload
    width, height = picture_size(payload)
    return integer(1, height) + integer(2, width) + message(4, payload)


def _tensor(payload: bytes) -> bytes:
    """Convert a value's TensorFlow TensorProto to graph.proto's, with the exact bytes of the numbers.

    Raises UnreadableError.
    """
    tensor = _tensor_of(payload)
    if tensor.dtype == tensor_proto.STRING:
        raise UnreadableError("payload.type", "a tensor of texts")
    flat = tensor_proto.numbers(payload, tensor)
    dims = b"".join(integer(1, size) for size in tensor.shape)
    data_type = DataType.Value(tensor_proto.TYPES[tensor.dtype][1])
    return dims + integer(2, data_type) + message(8, flat.tobytes())


def _histogram(payload: bytes) -> bytes:
    """Transcode the histogram of a value. Raises UnparsableError or UnreadableError."""
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key in (HISTO, TENSOR):
            return histogram_message(payload, start, stop, legacy=key == HISTO)
    raise UnreadableError("payload.unparsable", "a value without a histogram")


def _text(payload: bytes) -> bytes:
    """Return a single string, or several as a Markdown table as TensorBoard shows them."""
    tensor = _tensor_of(payload)
    texts = [payload[start:stop] for start, stop in tensor.strings]
    if len(texts) == 1:
        return texts[0]
    columns = max(tensor.shape[-1] if len(tensor.shape) > 1 else 1, 1)
    cells = [b" ".join(text.replace(b"|", b"\\|").split(b"\n")) for text in texts]
    rows = [b"| " + b" | ".join(cells[at : at + columns]) + b" |" for at in range(0, len(cells), columns)]
    head = b"|" + b"   |" * columns + b"\n|" + b" --- |" * columns
    return b"\n".join([head, *rows])


def _audio(payload: bytes) -> bytes:
    """Return the encoded sound with its label, from a sound message, one or two strings, or a bare sound."""
    encoded, *label = [payload] if sound_type(payload) is not None else _sound_and_label(payload)
    return message(1, encoded) + b"".join(message(2, text) for text in label[:1] if text)


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


_TRANSCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "image": _image,
    "tensor": _tensor,
    "pr_curve": _tensor,
    "histogram": _histogram,
    "text": lambda payload: message(1, _text(payload)),
    "audio": _audio,
    "layout": _layout,
    "graph": _graph,
}
