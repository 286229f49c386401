"""Ranges of a body, as players ask for them."""

import pytest

from mindinsight.server.http.static.byte_ranges import ranged_response

BODY = bytes(range(10))


@pytest.mark.parametrize(
    ("range_header", "status", "body", "content_range"),
    [
        ("", 200, BODY, None),
        ("bytes=0-", 206, BODY, "bytes 0-9/10"),
        ("bytes=2-4", 206, BODY[2:5], "bytes 2-4/10"),
        ("bytes=8-99", 206, BODY[8:], "bytes 8-9/10"),
        ("bytes=-3", 206, BODY[7:], "bytes 7-9/10"),
        ("bytes=-30", 206, BODY, "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=5-2", 200, BODY, None),
        ("bytes=-", 200, BODY, None),
        ("bytes=0-1,4-5", 200, BODY, None),
        ("items=0-1", 200, BODY, None),
        ("bytes=" + "9" * 50 + "-", 200, BODY, None),
    ],
)
def test_one_range_is_answered_and_all_else_with_the_whole(
    range_header: str, status: int, body: bytes, content_range: str | None
) -> None:
    response = ranged_response(BODY, range_header, "audio/wav", {"X-Other": "kept"})
    assert (response.status_code, response.body) == (status, body)
    assert response.headers.get("content-range") == content_range
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["x-other"] == "kept"
