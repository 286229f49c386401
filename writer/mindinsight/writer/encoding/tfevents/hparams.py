"""Encoder of the hparams plugin's messages: the experiment, and the start and end of a session in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.tfevents import messages

HyperParameter: TypeAlias = bool | int | float | str
_TAG: Final = "_hparams_/{}"
_EXPERIMENT, _SESSION_START, _SESSION_END = 2, 3, 4  # fields of HParamsPluginData
_TEXT, _BOOLEAN, _NUMBER = 1, 2, 3  # DataType of the plugin
_SUCCESS: Final = 1


def experiment(
    parameters: Mapping[str, HyperParameter],
    metrics: Iterable[str],
    domains: Mapping[str, Sequence[HyperParameter]],
) -> bytes:
    """A Summary.Value that declares hyper-parameters, with the values each may have, and metrics."""
    declared = [
        wire.block(4, _declaration(name, value, domains.get(name))) for name, value in parameters.items()
    ]
    named = [wire.block(5, wire.block(1, wire.block(2, metric.encode()))) for metric in metrics]
    return _value("experiment", _EXPERIMENT, b"".join((*declared, *named)))


def session_start(parameters: Mapping[str, HyperParameter]) -> bytes:
    """A Summary.Value with the hyper-parameters of a session."""
    entries = [
        wire.block(1, wire.block(1, name.encode()) + wire.block(2, _struct_value(value)))
        for name, value in parameters.items()
    ]
    return _value("session_start_info", _SESSION_START, b"".join(entries))


def session_end() -> bytes:
    """A Summary.Value that says that the session ended well."""
    return _value("session_end_info", _SESSION_END, wire.integer(1, _SUCCESS))


def _declaration(name: str, value: HyperParameter, domain: Sequence[HyperParameter] | None) -> bytes:
    values = b"" if domain is None else b"".join([wire.block(1, _struct_value(choice)) for choice in domain])
    choices = b"" if domain is None else wire.block(5, values)
    return wire.block(1, name.encode()) + wire.integer(4, _data_type(value)) + choices


def _data_type(value: HyperParameter) -> int:
    if isinstance(value, bool):
        return _BOOLEAN
    return _TEXT if isinstance(value, str) else _NUMBER


def _struct_value(value: HyperParameter) -> bytes:
    """google.protobuf.Value."""
    if isinstance(value, bool):
        return wire.integer(4, value)
    return wire.block(3, value.encode()) if isinstance(value, str) else wire.double(2, value)


def _value(name: str, field: int, content: bytes) -> bytes:
    return messages.value(_TAG.format(name), messages.metadata("hparams", wire.block(field, content)))
