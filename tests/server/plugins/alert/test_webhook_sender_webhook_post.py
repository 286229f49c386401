"""Posts to receivers that refuse, redirect, speak nonsense or never finish."""

import socket
from collections.abc import Callable, Iterator

import pytest

from mindinsight.server.plugins.alert.webhook_sender import post
from tests.server.plugins.alert.receivers import (
    Receiver,
    answering,
    cut_chunks,
    drip_body,
    drip_head,
    endless_head,
    garbage,
    hang_up,
    nested,
    receiving,
    silence,
)

LIMIT = 0.5  # s


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b"ok"), ""),
        (
            (200, b'{"errcode": 310000, "errmsg": "keywords not in content"}'),
            "310000 keywords not in content",
        ),
        ((200, b'{"code": 19021, "msg": "sign match fail"}'), "19021 sign match fail"),
        ((404, b""), "HTTP 404"),
        ((302, b""), "HTTP 302"),
    ],
)
def test_a_refusal_has_a_reason_and_no_redirect_is_followed(
    endpoint: Receiver, answer: tuple[int, bytes], why: str
) -> None:
    endpoint.bodies, endpoint.answer = [], answer
    assert post(endpoint.url, {"a": 1}) == why
    assert endpoint.bodies == [{"a": 1}]


def test_an_address_where_nobody_listens_raises_nothing() -> None:
    assert post("http://127.0.0.1:1/", {}) != ""


@pytest.mark.parametrize(
    ("speak", "why"),
    [
        (garbage, "not an HTTP response (BadStatusLine)"),
        (cut_chunks, "not an HTTP response (IncompleteRead)"),
        (endless_head, "not an HTTP response (HTTPException)"),
        (hang_up, "Remote end closed connection without response"),
        (nested, ""),
        (drip_head, "timed out"),
        (drip_body, "timed out"),
        (silence, "timed out"),
    ],
)
def test_nonsense_and_answers_without_end_are_a_reason_within_the_limit(
    speak: Callable[[socket.socket], None], why: str
) -> None:
    with answering(speak) as (url, _):
        assert why in post(url, {}, LIMIT)


def test_a_handshake_of_tls_that_never_ends_is_over_within_the_limit() -> None:
    with answering(drip_head) as (url, _):
        assert post(url.replace("http:", "https:"), {}, LIMIT) != ""
