"""Parser of the overflow records of Ascend devices (``Opdebug.Node_OpDebug``), in JSON or ``bin`` files."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.server.formats.dumps.layouts.asynchronous.dump_data import find_slot
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.text_files import read_json
from mindinsight.server.formats.unreadable import UnreadableError

PREFIX: Final = "Opdebug.Node_OpDebug."
_UNITS: Final = ("AI Core", "DHA Atomic Add", "L2 Atomic Add")
_INFO: Final = {"DHA Atomic Add": 0, "L2 Atomic Add": 128, "AI Core": 256}  # offset of six words of a unit
_STATUS: Final = {"DHA Atomic Add": 512, "L2 Atomic Add": 768, "AI Core": 1024 + 16}
_WORDS: Final = struct.Struct("<3Q")  # model, stream, task


class UnitStatus(NamedTuple):
    """Status of one unit of the device: an overflow when ``status`` is not 0."""

    unit: str
    status: int
    task: int
    stream: int


def read_opdebug(path: Path) -> tuple[UnitStatus, ...]:
    """Parse the units that overflowed; raises ``UnreadableError``."""
    units = _from_json(read_json(path)) if path.suffix == ".json" else _from_raw(path)
    return tuple(unit for unit in units if unit.status)


def _from_json(document: Any) -> Iterable[UnitStatus]:
    if not isinstance(document, dict):
        raise UnreadableError("dump.json", "an overflow record is an object")
    for name in _UNITS:
        if name in document:
            yield _unit(name, document[name])
    records = document.get("acc_list")
    for record in records if isinstance(records, list) else [records] if records else ():
        if isinstance(record, dict):
            yield _unit(str(record.get("acc_type", "")), record.get("data", {}))


def _unit(name: str, fields: Any) -> UnitStatus:
    try:
        return UnitStatus(name, int(fields["status"]), int(fields["task_id"]), int(fields["stream_id"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UnreadableError("dump.json", f"{name}: {error}") from error


def _from_raw(path: Path) -> Iterable[UnitStatus]:
    slot = find_slot(path, "output", 0)
    with opened(path) as file:
        file.seek(slot.offset)
        raw = slot.inline or file.read(min(slot.size, 1 << 16))
    for name in _UNITS:
        if len(raw) < _STATUS[name] + 8:
            raise UnreadableError("dump.truncated", f"overflow record of {len(raw)} bytes")
        _, stream, task = _WORDS.unpack_from(raw, _INFO[name])
        yield UnitStatus(name, int.from_bytes(raw[_STATUS[name] :][:8], "little"), task, stream)
