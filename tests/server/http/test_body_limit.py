"""Bodies that are too large, or that do not come."""

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from mindinsight.server.http import body_limit
from mindinsight.server.http.body_limit import LARGEST, BodyLimit


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the size of the body; with 400, as FastAPI does, when it cannot be read."""
    try:
        answer = PlainTextResponse(str(len(await Request(scope, receive).body())))
    except Exception:
        answer = PlainTextResponse("unreadable", 400)
    await answer(scope, receive, send)


def ask(parts: Any, headers: Any = ()) -> tuple[Any, Any, Any]:
    """(status, body, how many parts were taken)."""
    sent: list[Any] = []
    taken: list[Any] = []

    async def receive() -> dict[Any, Any]:
        if len(taken) == len(parts):
            await asyncio.sleep(60)
        taken.append(parts[len(taken)])
        return {
            "type": "http.request",
            "body": taken[-1],
            "more_body": len(taken) < len(parts) or not taken[-1],
        }

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": list(headers), "query_string": b""}
    asyncio.run(BodyLimit(app)(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent), len(taken)


def test_a_body_up_to_the_limit_is_read() -> None:
    assert ask([b"x" * (LARGEST - 1), b"y"]) == (200, b"%d" % LARGEST, 2)


@pytest.mark.parametrize("length", [str(LARGEST + 1), "9" * 5000, "-1", "x"])
def test_a_body_that_says_it_is_larger_is_not_read(length: Any) -> None:
    status, body, taken = ask([b"x"], [(b"content-length", length.encode())])
    assert (status, taken) == (413, 0)
    assert b"large_body" in body


def test_a_body_that_turns_out_to_be_larger_is_not_read_to_its_end() -> None:
    status, body, taken = ask([b"x" * LARGEST] * 10)
    assert (status, taken) == (413, 2)
    assert b"large_body" in body


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "SECONDS", 0.1)
    status, body, _ = ask([b""])
    assert status == 408
    assert b"slow_body" in body
