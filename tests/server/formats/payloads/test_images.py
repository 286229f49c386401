"""Summary.Image: the header from the first bytes, the picture from all."""

from __future__ import annotations

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads import ImageHeader, image, image_header
from mindinsight.server.formats.payloads.images import HEADER_BYTES
from mindinsight.server.formats.unreadable import UnreadableError

PICTURE = b"\x89PNG\r\n" + bytes(500)
PAYLOAD = Summary.Image(height=4, width=600, colorspace=3, encoded_image=PICTURE).SerializeToString()


def test_whole_message() -> None:
    result = image(PAYLOAD)
    assert (result.header, result.encoded) == (ImageHeader(600, 4, 3), PICTURE)


def test_header_needs_the_first_bytes_only() -> None:
    huge = Summary.Image(height=2**31 - 1, width=2**31 - 1, colorspace=6, encoded_image=PICTURE)
    assert image_header(huge.SerializeToString()[:HEADER_BYTES]) == ImageHeader(2**31 - 1, 2**31 - 1, 6)


def test_empty_message_has_no_size() -> None:
    assert image(b"").header == image_header(b"") == ImageHeader(0, 0, 0)


def test_cut_message_is_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        image(PAYLOAD[:-1])
    assert caught.value.reason == "payload.unparsable"


def test_the_size_is_that_of_the_picture_and_not_what_the_message_claims() -> None:
    encoded = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (7).to_bytes(4, "big") + (5).to_bytes(4, "big")
    payload = Summary.Image(height=4, width=600, colorspace=3, encoded_image=encoded).SerializeToString()
    assert image(payload).header == ImageHeader(7, 5, 3)
