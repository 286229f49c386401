"""Decoder of the hparams plugin: hyperparameters, metrics and end of a session."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Value

from mindinsight.proto.tensorboard_pb2 import HParamsPluginData
from mindinsight.server.formats.sanitizer import safe_value, show_text

_ENDINGS: Final = {1: b"", 2: b"STATUS_FAILURE"}  # status of a session -> error of the run
_MAX_ITEMS: Final = 10_000  # hyperparameters, or metrics, of a run; bounds the memory for hostile files


@dataclass(slots=True)
class Session:
    """Hyperparameters of a run by name, and the tags of its metrics. The last value of a name counts."""

    hparams: dict[str, Any] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)  # tags of scalars


def read_session(contents: Iterable[bytes]) -> Session:
    """Read the session from the contents of the plugin. Contents that cannot be read are skipped."""
    session = Session()
    metrics: dict[str, None] = {}
    for content in contents:
        with suppress(DecodeError, ValueError, RecursionError):
            message = HParamsPluginData.FromString(content)
            for metric in message.experiment.metric_infos:
                if metric.name.tag and not metric.name.group and len(metrics) < _MAX_ITEMS:
                    metrics[show_text(metric.name.tag)] = None
            for entry in message.session_start_info.hparams:
                key = show_text(entry.key)
                if key in session.hparams or len(session.hparams) < _MAX_ITEMS:
                    session.hparams[key] = safe_value(_plain(entry.value))
    session.metrics = list(metrics)
    return session


def session_end(content: bytes) -> bytes | None:
    """Return the error that ended a session, empty after a normal end, None if the content is no end."""
    try:
        return _ENDINGS.get(HParamsPluginData.FromString(content).session_end_info.status)
    except DecodeError:
        return None


def _plain(value: Value) -> Any:
    """Return a value as Python's own. Whole numbers become int."""
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) < 1 << 53 else number
    if kind == "struct_value":
        return {name: _plain(inner) for name, inner in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    return None if kind in (None, "null_value") else getattr(value, kind)
