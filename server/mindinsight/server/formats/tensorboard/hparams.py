"""Decoder of the hparams plugin: hyperparameters, metrics and end of a session.

HParamsPluginData: experiment 2 (metric_infos 5: name 1: group 1, tag 2), session_start_info 3 (hparams 1: a
map from names to google.protobuf.Value), session_end_info 4 (status 1: 1 success, 2 failure, 3 running).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Value

from mindinsight.server.formats.events.event_fields import tag_text
from mindinsight.server.formats.sanitizer import safe_value
from mindinsight.server.formats.wire_format import UnparsableError, last_field, message_fields, read_varint

_EXPERIMENT, _START, _END = 2 << 3 | 2, 3 << 3 | 2, 4 << 3 | 2
_METRIC_INFO, _METRIC_NAME, _GROUP, _TAG = 5 << 3 | 2, 1 << 3 | 2, 1 << 3 | 2, 2 << 3 | 2
_HPARAM, _KEY, _VALUE = 1 << 3 | 2, 1 << 3 | 2, 2 << 3 | 2
_STATUS: Final = 1 << 3
_SUCCESS, _FAILURE = 1, 2
_MAX_ITEMS: Final = 10_000


@dataclass(slots=True)
class Session:
    """Hyperparameters and metrics of a run. For one name, the last value counts."""

    hparams: dict[str, Any] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)  # tags of scalars


def read_session(contents: Iterable[bytes]) -> Session:
    """Read the session from the contents of the plugin. Contents that cannot be read are skipped."""
    session = Session()
    for content in contents:
        try:
            _read(session, content)
        except (UnparsableError, DecodeError, ValueError, RecursionError):
            continue
    return session


def session_end(content: bytes) -> bytes | None:
    """Return the error that ended a session, empty after a normal end.

    None if the content is no end of a session.
    """
    try:
        span = last_field(content, 0, len(content), _END)
        status = last_field(content, *span, _STATUS) if span else None
        number = read_varint(content, *status)[0] if status else 0
    except UnparsableError:
        return None
    return {_SUCCESS: b"", _FAILURE: b"STATUS_FAILURE"}.get(number)


def _read(session: Session, data: bytes) -> None:
    """Add the content of one record to the session.

    Raises UnparsableError, DecodeError, ValueError or RecursionError.
    """
    for key, start, stop in message_fields(data, 0, len(data)):
        if key == _EXPERIMENT:
            tags = list(_metric_tags(data, start, stop))
            session.metrics += [tag for tag in tags if tag not in session.metrics][:_MAX_ITEMS]
        elif key == _START:
            for name, value in _hparams(data, start, stop):
                if len(session.hparams) < _MAX_ITEMS:
                    session.hparams[name] = value


def _metric_tags(data: bytes, at: int, end: int) -> Iterator[str]:
    """Yield the tags of metrics of the run itself. Metrics with a group belong to a run below it."""
    for key, start, stop in message_fields(data, at, end):
        if key == _METRIC_INFO:
            for part, first, last in message_fields(data, start, stop):
                if part == _METRIC_NAME:
                    names = {inner: data[a:b] for inner, a, b in message_fields(data, first, last)}
                    if not names.get(_GROUP) and names.get(_TAG):
                        yield tag_text(names[_TAG])


def _hparams(data: bytes, at: int, end: int) -> Iterator[tuple[str, Any]]:
    """Yield names and values of hyperparameters. Raises UnparsableError."""
    for key, start, stop in message_fields(data, at, end):
        if key == _HPARAM:
            entry = {inner: data[first:last] for inner, first, last in message_fields(data, start, stop)}
            value = _plain(Value.FromString(entry.get(_VALUE, b"")))
            yield tag_text(entry.get(_KEY, b"")), safe_value(value)


def _plain(value: Value) -> Any:
    """Return a protobuf value as Python's; integers as int. JSON has no NaN, so its rules do not apply."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) < 1 << 53 else number
    if kind == "struct_value":
        return {name: _plain(inner) for name, inner in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    return None if kind in (None, "null_value") else getattr(value, kind)
