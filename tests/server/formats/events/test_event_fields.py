"""Keys of fields against the bytes that protobuf writes, and codes of kinds."""

import pytest

from mindinsight.proto.kinds import KINDS
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.events import event_fields


def first_key(data: bytes) -> int:
    """The key of the first field of a message of one field, as a number."""
    key, shift = 0, 0
    for octet in data:
        key |= (octet & 0x7F) << shift
        if octet < 0x80:
            return key
        shift += 7
    raise AssertionError("no key")


@pytest.mark.parametrize(
    ("event", "key"),
    [
        (Event(step=1), event_fields.EVENT_STEP),
        (Event(version="v"), event_fields.EVENT_VERSION),
    ],
)
def test_keys_of_events_are_those_of_protobuf(event: Event, key: int) -> None:
    event.ClearField("wall_time")
    assert first_key(event.SerializePartialToString()) == key


def test_every_kind_of_payload_has_a_code_of_its_own() -> None:
    payloads = [kind.name for kind in KINDS if kind.storage == "payload"]
    assert sorted(event_fields.CODES) == sorted(payloads)
    codes = [event_fields.SCALAR, event_fields.EXACT, *event_fields.CODES.values()]
    assert len(set(codes)) == len(codes)
    assert {event_fields.KIND_NAMES[code]: code for code in event_fields.CODES.values()} == event_fields.CODES


def test_a_tag_that_is_not_unicode_is_shown_by_its_bytes() -> None:
    assert event_fields.tag_text("损失".encode()) == "损失"
    assert event_fields.tag_text(b"a\xffb") == r"a\xffb"
