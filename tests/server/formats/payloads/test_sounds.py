"""Sounds: the message of our writer, and bytes that are none."""

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads.sounds import Sound, sound
from mindinsight.server.formats.unreadable import UnreadableError


def test_a_sound_has_its_bytes_and_its_label() -> None:
    assert sound(Summary.Audio(encoded=b"\0abc", label="*x*").SerializeToString()) == Sound(b"\0abc", "*x*")
    assert sound(b"") == Sound(b"")


def test_bytes_that_are_no_message_are_said() -> None:
    with pytest.raises(UnreadableError) as error:
        sound(b"\x0a\xff")
    assert error.value.reason == "payload.unparsable"
