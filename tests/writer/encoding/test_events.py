"""Records that open and close a summary file."""

import time
from typing import Any, NoReturn

import pytest

from mindinsight.proto import framing
from mindinsight.proto.summary_pb2 import Event
from mindinsight.writer.encoding.events import closing_record, version_record
from tests.narrowing import require


def event_of(record: Any) -> Any:
    size = framing.decode_header(record[: framing.HEADER_SIZE])
    payload = require(framing.decode_payload(record[framing.HEADER_SIZE :]))
    assert len(payload) == size
    return Event.FromString(payload)


class Unprintable(Exception):
    def __str__(self) -> NoReturn:
        raise RuntimeError("no text")


def test_a_file_opens_with_the_version_other_readers_look_for() -> None:
    event = event_of(version_record())
    assert event.version == "MindSpore.Event:1"
    assert event.wall_time == pytest.approx(time.time(), abs=3600)


def test_a_training_that_ended_well_has_no_error() -> None:
    event = event_of(closing_record(None))
    assert event.WhichOneof("what") == "closing"
    assert not event.closing.HasField("error")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("nan\nat step 3"), "ValueError: nan"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (OSError("\n  disk full"), "OSError: disk full"),
        (Unprintable(), "Unprintable"),
        (RuntimeError("x" * 1000), "RuntimeError: " + "x" * 186),
    ],
)
def test_an_error_is_its_class_and_the_first_line_of_its_message(error: Any, text: Any) -> None:
    assert event_of(closing_record(error)).closing.error == text
