"""Reading back what the writer wrote, with the messages of mindinsight.proto and nothing of the server."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto import framing
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event


def payloads(path: Any) -> tuple[Any, Any]:
    """Every record of a file, as ``records_in`` its bytes."""
    return records_in(Path(path).read_bytes(), str(path))


def records_in(data: bytes, path: str = "") -> tuple[list[bytes], bytes]:
    """Every record; fails on a wrong checksum. Returns them and the bytes of an unfinished one."""
    start, records = 0, []
    while start + framing.HEADER_SIZE <= len(data):
        size = framing.decode_header(data[start : start + framing.HEADER_SIZE])
        assert size is not None, f"{path}: wrong length checksum at byte {start}"
        body = data[start + framing.HEADER_SIZE : start + framing.HEADER_SIZE + size + framing.FOOTER_SIZE]
        if len(body) < size + framing.FOOTER_SIZE:
            break
        payload = framing.decode_payload(body)
        assert payload is not None, f"{path}: wrong checksum of the record at byte {start}"
        records.append(payload)
        start += len(body) + framing.HEADER_SIZE
    return records, data[start:]


def programs_in(event: Event) -> list[Any]:
    return [json.loads(value.code.facts) for value in event.summary.value if value.HasField("code")]


def samples_in(event: Event) -> list[Any]:
    values = event.summary.value
    return [(value.tag, number_of(value)) for value in values if value.tag.startswith("system/")]


class Reading:
    """The event files of one directory."""

    def __init__(self, directory: Any) -> None:
        self.directory = Path(directory)

    def files(self, suffix: str = "_MS") -> list[Any]:
        return sorted(self.directory.glob(f"*.out.events.summary.*{suffix}"))

    def events(self) -> list[Any]:
        """Every Event but those that open and close files or tell of program and machine."""
        return [
            event
            for events in self.files_events()
            for event in events
            if not (event.HasField("closing") or any(programs_in(event)) or samples_in(event))
        ]

    def samples(self) -> list[Any]:
        """(step, tag, number) of what was recorded of the machine."""
        return [
            (event.step, *sample)
            for events in self.files_events()
            for event in events
            for sample in samples_in(event)
        ]

    def programs(self) -> list[Any]:
        """What was recorded of the program."""
        return [code for events in self.files_events() for event in events for code in programs_in(event)]

    def files_events(self) -> Any:
        """The Events of each summary file but the version event, which must come first."""
        files = []
        for path in self.files():
            records, rest = payloads(path)
            assert rest == b""
            first, *others = [Event.FromString(record) for record in records]
            assert first.version == "MindSpore.Event:1"
            files.append(others)
        return files

    def lineage(self) -> list[Any]:
        records = [record for path in self.files("_lineage") for record in payloads(path)[0]]
        return [LineageEvent.FromString(record) for record in records]

    def values(self) -> list[Any]:
        """(step, Value) of every value."""
        return [(event.step, value) for event in self.events() for value in event.summary.value]

    def scalars(self) -> list[Any]:
        """(step, tag, number) with the exact number where there is one."""
        return [(step, value.tag, number_of(value)) for step, value in self.values()]


def number_of(value: Any) -> Any:
    return value.exact_scalar if value.HasField("exact_scalar") else value.scalar_value


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    return Reading(tmp_path)


@pytest.fixture(scope="session")
def reading_of() -> Any:
    return Reading


@pytest.fixture(scope="session")
def records_of() -> Any:
    return payloads
