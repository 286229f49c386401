"""Pictures, sounds, texts and alerts come back from their messages."""

from __future__ import annotations

from typing import Any

import pytest

from mindinsight.proto.summary_pb2 import Alert as Message
from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads.media_payloads import (
    Alert,
    Image,
    Sound,
    alert,
    image,
    sound,
)
from mindinsight.server.formats.read_limits import UnreadableError

PICTURE = b"\x89PNG\r\n" + bytes(500)
PAYLOAD = Summary.Image(height=4, width=600, colorspace=3, encoded_image=PICTURE).SerializeToString()


def test_whole_message() -> None:
    result = image(PAYLOAD)
    assert (result.width, result.height, result.encoded) == (600, 4, PICTURE)


def test_empty_message_has_no_size() -> None:
    assert image(b"") == Image(0, 0, b"")


def test_cut_message_is_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        image(PAYLOAD[:-1])
    assert caught.value.reason == "payload.unparsable"


def test_the_size_is_that_of_the_picture_and_not_what_the_message_claims() -> None:
    encoded = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (7).to_bytes(4, "big") + (5).to_bytes(4, "big")
    payload = Summary.Image(height=4, width=600, colorspace=3, encoded_image=encoded).SerializeToString()
    assert image(payload) == Image(7, 5, encoded)


def test_a_sound_has_its_bytes_and_its_label() -> None:
    assert sound(Summary.Audio(encoded=b"\0abc", label="*x*").SerializeToString()) == Sound(b"\0abc", "*x*")
    assert sound(b"") == Sound(b"")


def test_bytes_that_are_no_message_are_said() -> None:
    with pytest.raises(UnreadableError) as error:
        sound(b"\x0a\xff")
    assert error.value.reason == "payload.unparsable"


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_an_alert_is_what_was_written(level: Any) -> None:
    message = Message(title="loss 发散", text="a\nb", level=Message.Level.Value(level.upper()))
    assert alert(message.SerializeToString()) == Alert("loss 发散", "a\nb", level)


def test_the_path_of_a_dump_is_read() -> None:
    assert alert(Message(title="a", dump="../flight_dump").SerializeToString()).dump == "../flight_dump"


def test_what_is_left_out_is_empty() -> None:
    assert alert(b"") == Alert("", "", "info")


def test_a_level_of_later_versions_is_a_warning() -> None:
    assert alert(b"\x18\x07").level == "warning"


def test_text_that_is_no_unicode_can_be_shown() -> None:
    assert alert(b"\x0a\x02a\xff").title == r"a\xff"


@pytest.mark.parametrize("payload", [b"\x0a\x05ab", b"\xff", b"\x18"])
def test_what_is_no_alert_is_refused(payload: Any) -> None:
    with pytest.raises(UnreadableError, match="alert"):
        alert(payload)
