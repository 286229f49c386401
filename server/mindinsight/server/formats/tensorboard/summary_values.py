"""Parser of TensorFlow events and their values: the kind of each value, and the span of its payload."""

from typing import Final

from mindinsight.server.formats.events.event_fields import (
    CODES,
    EVENT_SUMMARY,
    EVENT_VERSION,
    EXACT,
    SCALAR,
    SUMMARY_VALUE,
    VALUE_TAG,
    EventValue,
    ParsedEvent,
    Schema,
    parse_fields,
    payload_codes,
)
from mindinsight.server.formats.media_types import SIGNATURE_BYTES, picture_type, sound_type
from mindinsight.server.formats.tensorboard import tensor_proto
from mindinsight.server.formats.tensorboard.hparams import session_end
from mindinsight.server.formats.wire_format import Octets, last_field, message_fields, read_varint
from mindinsight.server.types import ROUNDED, TENSOR_KINDS

SIMPLE_VALUE: Final = 2 << 3 | 5
IMAGE, HISTO, AUDIO, TENSOR, _METADATA = (number << 3 | 2 for number in (4, 5, 6, 8, 9))
_NODE_NAME: Final = 7 << 3 | 2  # older writers name a value by its node alone
_VALUES: Final = (SIMPLE_VALUE, IMAGE, HISTO, AUDIO, TENSOR)
_PLUGIN_DATA, _NAME, _CONTENT = 1 << 3 | 2, 1 << 3 | 2, 2 << 3 | 2
_SIGNATURE: Final = 12  # bytes that identify a picture format
_MAX_SAMPLES: Final = 1000  # pictures or sounds in one value
_STRING_FIELD: Final = b"\x42"  # key of string_val in a tensor
# Kinds of tensors of numbers, by plugin. Tensors of other plugins are listed and not drawn.
_NUMBER_KINDS: Final = {
    **dict.fromkeys(("", "scalars", "tensor"), "tensor"),
    "histograms": "histogram",
    "pr_curves": "pr_curve",
}
_TEXT_KINDS: Final = {**dict.fromkeys(("", "text"), "text"), "custom_scalars": "layout"}  # of strings
_PLUGINS: Final = frozenset(
    (*_NUMBER_KINDS, *_TEXT_KINDS, "images", "audio", "mesh", "graphs", "graph_keras_model", "profile")
) - {""}


def read_value(event: ParsedEvent, data: Octets, at: int, end: int) -> None:
    """Add the value in ``data[at:end]`` to the event, hyperparameters to its ``notes``, and the name of an
    unsupported value to its ``skipped``. Raises UnparsableError."""
    tag, node, value, plugin, content = b"", b"", None, "", b""
    for key, start, stop in message_fields(data, at, end):
        if key == VALUE_TAG:
            tag = data[start:stop]
        elif key == _NODE_NAME:
            node = data[start:stop]
        elif key in _VALUES:
            value = (key, start, stop)
        elif key == _METADATA:
            plugin, content = _plugin(data, start, stop)
    tag = tag or node
    if plugin == "hparams":
        event.notes.append(("hparams", content))
        ending = session_end(content)
        event.closing = event.closing if ending is None else ending
    elif value is None:
        event.skipped.append(_skipped_name(plugin))
    elif value[0] == TENSOR:
        _Value(event, data, tag, (at, end), plugin).read_tensor(*value[1:])
    else:
        _read_plain(event, data, tag, (at, end), value)


def _read_plain(
    event: ParsedEvent, data: Octets, tag: bytes, whole: tuple[int, int], value: tuple[int, int, int]
) -> None:
    """Add a value that is not stored as a tensor: a scalar, an image, a histogram or a sound."""
    key, start, stop = value
    if key == SIMPLE_VALUE:
        event.values.append(EventValue(SCALAR, tag, start, 4))
    elif key == IMAGE:
        event.values.append(EventValue(CODES["image"], tag, start, stop - start))
    else:
        _add(event, "histogram" if key == HISTO else "audio", tag, whole)
    event.free.append((start, stop - start))


def _plugin(data: Octets, at: int, end: int) -> tuple[str, bytes]:
    """Return name and content of the plugin in a SummaryMetadata. Raises UnparsableError."""
    name = content = b""
    for key, start, stop in message_fields(data, at, end):
        if key == _PLUGIN_DATA:
            for inner, first, last in message_fields(data, start, stop):
                if inner == _NAME:
                    name = data[first:last]
                elif inner == _CONTENT:
                    content = data[first:last]
    return name.decode("utf-8", "replace"), content


def _skipped_name(plugin: str) -> str:
    """Return the name for counting a value that is not shown. Unknown plugins share one name."""
    return plugin if plugin in _PLUGINS else "plugin" if plugin else "unknown"


def _add(event: ParsedEvent, kind: str, tag: bytes, span: tuple[int, int]) -> None:
    """Add a payload to the event."""
    event.values.append(EventValue(CODES[kind], tag, span[0], span[1] - span[0]))


class _Value:
    """Parser of a value with a tensor."""

    def __init__(
        self, event: ParsedEvent, data: Octets, tag: bytes, whole: tuple[int, int], plugin: str
    ) -> None:
        self.event, self.data, self.tag, self.whole, self.plugin = event, data, tag, whole, plugin

    def read_tensor(self, start: int, stop: int) -> None:
        """Add the tensor in ``data[start:stop]`` to the event. Raises UnparsableError."""
        tensor = tensor_proto.tensor_fields(self.data, start, stop)
        if tensor.dtype == tensor_proto.STRING:
            self._read_strings(tensor)
        elif self._is_scalar(tensor):
            self._read_scalar(tensor)
        else:
            _add(self.event, _NUMBER_KINDS.get(self.plugin, "other"), self.tag, self.whole)
            self.event.free.append((start, stop - start))

    def _is_scalar(self, tensor: tensor_proto.TensorFields) -> bool:
        """Return True if the tensor is a scalar. Only the first event of a tag names its plugin."""
        if self.plugin:
            return self.plugin == "scalars" and tensor.count == 1
        return all(size == 1 for size in tensor.shape)  # only the first event of a tag has to name its plugin

    def _read_scalar(self, tensor: tensor_proto.TensorFields) -> None:
        """Add a scalar: the span of its float, or the number itself."""
        number = tensor_proto.single_number(self.data, tensor)
        if number is None:
            self.event.skipped.append("unknown")
            return
        if not isinstance(number, tuple):
            if float(number) != number:
                self.event.skipped.append(ROUNDED)
            self.event.values.append(EventValue(EXACT, self.tag, self.whole[0], 8, float(number)))
            return
        start, stop = number
        self.event.values.append(
            EventValue(SCALAR if stop - start == 4 else EXACT, self.tag, start, stop - start)
        )
        self.event.free.append((start, stop - start))

    def _read_strings(self, tensor: tensor_proto.TensorFields) -> None:
        """Add the strings of a tensor as pictures, sounds or text. Pictures are width, height and one string
        each, sounds are pairs with a label."""
        spans = tensor.strings
        if self.plugin == "images" or (not self.plugin and self._holds_pictures(spans)):
            self._add_samples("image", spans[2:])
        elif self.plugin == "audio" or (not self.plugin and self._holds_sounds(spans)):
            pairs = len(tensor.shape) == 2 and tensor.shape[1] == 2
            labels = spans[1::2] if pairs else spans
            sounds = zip(spans[::2] if pairs else spans, labels, strict=False)
            self._add_samples("audio", [self._with_label(*span) for span in sounds])
        else:
            _add(self.event, _TEXT_KINDS.get(self.plugin, "other"), self.tag, self.whole)
        self.event.free += [(start, stop - start) for start, stop in spans]

    def _add_samples(self, kind: str, spans: list[tuple[int, int]]) -> None:
        """Add a payload for each sample. Several samples have numbered tags."""
        for number, span in enumerate(spans[:_MAX_SAMPLES]):
            tag = self.tag if len(spans) == 1 else self.tag + f"/{number}".encode()
            _add(self.event, kind, tag, span)

    def _holds_pictures(self, spans: list[tuple[int, int]]) -> bool:
        """Return True if the first three strings are a width, a height and a picture."""
        if len(spans) < 3 or any(stop - start > 10 for start, stop in spans[:2]):
            return False
        sizes = [self.data[slice(*span)] for span in spans[:2]]
        start, stop = spans[2]
        picture = self.data[start : min(stop, start + _SIGNATURE)]
        return all(size.isdigit() for size in sizes) and picture_type(picture) is not None

    def _holds_sounds(self, spans: list[tuple[int, int]]) -> bool:
        """Return True if the first string begins with the signature of a sound."""
        start, stop = spans[0] if spans else (0, 0)
        return sound_type(self.data[start : min(stop, start + SIGNATURE_BYTES)]) is not None

    def _with_label(self, sound: tuple[int, int], label: tuple[int, int]) -> tuple[int, int]:
        """Return the span of the fields of a sound and its label, so that they form one message. Return
        the span of the sound alone if its length has an unusual encoding."""
        start, stop = sound
        size = stop - start
        at = start - max(1, (size.bit_length() + 6) // 7) - 1
        if (
            at < 0
            or self.data[at : at + 1] != _STRING_FIELD
            or read_varint(self.data, at + 1, start)[0] != size
        ):
            return sound
        return at, max(stop, label[1])


_GRAPH, _LOG, _SESSION, _RUN_METADATA, _META_GRAPH = (number << 3 | 2 for number in (4, 6, 7, 8, 9))
_SKIPPED: Final = {_LOG: "log_message", _RUN_METADATA: "run_metadata"}
_CONTENTS: Final = (EVENT_VERSION, EVENT_SUMMARY, _GRAPH, _SESSION, _META_GRAPH, *_SKIPPED)
_INNER_GRAPH: Final = 2 << 3 | 2  # graph_def in MetaGraphDef
_STATUS: Final = 1 << 3
_START, _STOP = 1, 2  # status of a session


def parse_event(data: Octets, at: int, end: int) -> ParsedEvent:
    """Parse the event in ``data[at:end]``. Raises UnparsableError."""
    return parse_fields(data, at, end, _CONTENTS, _read_content)[0]


def _read_content(event: ParsedEvent, data: Octets, key: int, start: int, stop: int) -> None:
    """Add the field ``key`` in ``data[start:stop]`` to the event. Raises UnparsableError."""
    if key == EVENT_SUMMARY:
        for part, first, last in message_fields(data, start, stop):
            if part == SUMMARY_VALUE:
                read_value(event, data, first, last)
    elif key == EVENT_VERSION:
        event.version = data[start:stop]
    elif key == _SESSION:
        _read_session(event, data, start, stop)
    elif key == _META_GRAPH:
        graph = last_field(data, start, stop, _INNER_GRAPH)
        if graph:
            _add_graph(event, *graph)
        else:
            event.skipped.append("meta_graph")
    elif key == _GRAPH:
        _add_graph(event, start, stop)
    else:
        event.skipped.append(_SKIPPED[key])


def _add_graph(event: ParsedEvent, start: int, stop: int) -> None:
    """Add a graph payload to the event."""
    event.values.append(EventValue(CODES["graph"], b"", start, stop - start))
    event.free.append((start, stop - start))


def _read_session(event: ParsedEvent, data: Octets, start: int, stop: int) -> None:
    """Add the start or the end of a session to the event."""
    span = last_field(data, start, stop, _STATUS)
    status = read_varint(data, *span)[0] if span else 0
    if status == _START:
        event.notes.append(("session", b""))
    elif status == _STOP:
        event.closing = b""
    else:
        event.skipped.append("session_log")


_VALUE_KINDS: Final = {IMAGE: CODES["image"], HISTO: CODES["histogram"], AUDIO: CODES["audio"]}
TENSORBOARD: Final = Schema(
    parse=parse_event,
    scalar_key=SIMPLE_VALUE,
    exact_key=0,
    payload_codes=payload_codes(_VALUE_KINDS),
    tensor_kinds=TENSOR_KINDS,
    whole=(CODES["histogram"], CODES["audio"]),
)
