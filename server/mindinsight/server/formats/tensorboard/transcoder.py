"""Transcoder of TensorFlow payloads into the messages that our writer would have recorded."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from mindinsight.proto.graph_pb2 import DataType
from mindinsight.server.formats.picture_sizes import picture_size
from mindinsight.server.formats.picture_types import picture_type
from mindinsight.server.formats.sound_types import sound_type
from mindinsight.server.formats.tensorboard.histograms import histogram_message
from mindinsight.server.formats.tensorboard.tensors import (
    STRING,
    STRING_VALUE,
    TYPES,
    TensorFields,
    numbers,
    tensor_fields,
)
from mindinsight.server.formats.tensorboard.values import AUDIO, HISTO, TENSOR
from mindinsight.server.formats.tensorboard.wire_writer import integer, message
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, last_field, message_fields

_ENCODED_AUDIO: Final = 4 << 3 | 2


def transcode(kind: str, payload: bytes) -> bytes:
    """The payload of a reference into a TensorBoard file, as a message of ours. Raises UnreadableError."""
    make = _TRANSCODERS.get(kind)
    if make is None:
        return payload
    try:
        return make(payload)
    except (UnparsableError, struct.error, ValueError) as error:
        raise UnreadableError("payload.unparsable", f"{kind}: {error}") from error


def _image(payload: bytes) -> bytes:
    """Summary.Image is the same in both formats; a picture from a tensor of strings stands by itself."""
    if picture_type(payload) is None:
        return payload
    width, height = picture_size(payload)
    return integer(1, height) + integer(2, width) + message(4, payload)


def _tensor(payload: bytes) -> bytes:
    """TensorProto of graph.proto with the exact bytes of the numbers."""
    tensor = _tensor_of(payload)
    if tensor.dtype == STRING:
        raise UnreadableError("payload.type", "a tensor of texts")
    flat = numbers(payload, tensor)
    dims = b"".join(integer(1, size) for size in tensor.shape)
    data_type = DataType.Value(TYPES[tensor.dtype][1])
    return dims + integer(2, data_type) + message(8, flat.tobytes())


def _histogram(payload: bytes) -> bytes:
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key in (HISTO, TENSOR):
            return histogram_message(payload, start, stop, legacy=key == HISTO)
    raise UnreadableError("payload.unparsable", "a value without a histogram")


def _text(payload: bytes) -> bytes:
    """One string as it is; a vector or matrix of them as a Markdown table, as TensorBoard shows it."""
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
    """The encoded sound with its label: the old message, one or two strings of a tensor, or the sound."""
    encoded, *label = [payload] if sound_type(payload) is not None else _sound_and_label(payload)
    return message(1, encoded) + b"".join(message(2, text) for text in label[:1] if text)


def _sound_and_label(payload: bytes) -> list[bytes]:
    strings = []
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key == AUDIO:
            sound = last_field(payload, start, stop, _ENCODED_AUDIO)
            return [payload[slice(*sound)] if sound else b""]
        if key == STRING_VALUE:
            strings.append(payload[start:stop])
    return strings or [b""]


def _layout(payload: bytes) -> bytes:
    """The charts, which are a message in a tensor of one string."""
    return b"".join(payload[start:stop] for start, stop in _tensor_of(payload).strings[-1:])


def _graph(payload: bytes) -> bytes:
    from mindinsight.server.formats.tensorboard.graph_def import graph_message  # few runs have graphs

    return graph_message(payload)


def _tensor_of(payload: bytes) -> TensorFields:
    for key, start, stop in message_fields(payload, 0, len(payload)):
        if key == TENSOR:
            return tensor_fields(payload, start, stop)
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
