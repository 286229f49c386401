"""Alerts as protobuf writes them, and bytes that are none."""

from typing import Any

import pytest

from mindinsight.proto.summary_pb2 import Alert as Message
from mindinsight.server.formats.payloads import Alert, alert
from mindinsight.server.formats.unreadable import UnreadableError


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
