"""ASGI middleware that limits the size of a request's body, and the time a client takes to send it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mindinsight.server.errors import ApiError
from mindinsight.server.http.security import error_response

LARGEST: Final = 8 << 20  # bytes
SECONDS: Final = 30.0  # between two parts of a body


class BodyLimit:
    """Answers 413 to a body that says it is too large, unread, and to one that turns out to be.

    A client that sends no more of its body for half a minute gets 408.
    """

    def __init__(
        self,
        app: ASGIApp,
        error_of: Callable[[str, ApiError], Response] = lambda path, error: error_response(error),
    ) -> None:
        """``error_of`` gives the answer to a request for a path (without prefixes) whose body is refused."""
        self.app = app
        self._error_of = error_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isascii() or not length.isdecimal() or len(length) > 18 or int(length) > LARGEST:
            await self._refusal(scope, 413)(scope, receive, send)
            return
        body = _Body(receive, send)
        try:
            await self.app(scope, body.receive, body.send)
        except _Refused as refused:
            if not body.started:
                await self._refusal(scope, refused.status)(scope, receive, send)

    def _refusal(self, scope: Scope, status: int) -> Response:
        if status == 408:
            error = ApiError(408, "slow_body", "The body of the request did not come in time.")
        else:
            size = LARGEST >> 20
            error = ApiError(413, "large_body", f"The body of a request may have {size} MB.", size=size)
        answer = self._error_of(scope["path"].removeprefix(scope.get("root_path", "")), error)
        answer.headers["Connection"] = "close"
        return answer


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Body:
    """Counts what is received, and notes whether an answer has begun."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.started = False
        self._receive = receive
        self._send = send
        self._size = 0
        self._whole = False
        self._refusal = 0

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()  # the end of the connection, whenever that is
        try:
            message = await asyncio.wait_for(self._receive(), SECONDS)
        except asyncio.TimeoutError:
            raise self._refused(408) from None
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > LARGEST:
            raise self._refused(413)
        return message

    async def send(self, message: Message) -> None:
        """An application may make an answer of its own of what ``receive`` raised: ours is sent instead."""
        if self._refusal and not self.started:
            raise _Refused(self._refusal)
        self.started = True
        await self._send(message)

    def _refused(self, status: int) -> _Refused:
        self._refusal = status
        return _Refused(status)
