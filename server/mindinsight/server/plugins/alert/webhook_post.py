"""POST of a JSON value with a limit on the whole exchange, which follows no redirect."""

from __future__ import annotations

import http.client
import io
import json
import socket
import time
import urllib.error
import urllib.request
from functools import partial
from typing import IO, Any, Final

LIMIT: Final = 10.0  # s for connecting, and for everything after that: services answer within one
_ANSWER: Final = 65_536  # bytes of an answer that are read; those of the services have a few hundred


def post(url: str, content: dict[str, Any], limit: float = LIMIT) -> str:
    """POST a JSON value. Return "" when the receiver took it, else the reason. Raises nothing.

    ``limit`` holds in seconds for connecting and for the exchange that follows, however slowly bytes come.
    """
    body = json.dumps(content, ensure_ascii=True).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="POST")
    opener = urllib.request.build_opener(_NoRedirect, _Http, _Https)
    try:
        with opener.open(request, timeout=limit) as answer:
            return _refusal(answer.read(_ANSWER))
    except urllib.error.HTTPError as error:
        error.close()
        return f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__
    except http.client.HTTPException as error:
        return f"not an answer of HTTP ({type(error).__name__})"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows none: the answer is an error."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class _TimedReader(io.RawIOBase):
    """Stream of a socket that raises TimeoutError once the time is over, even if bytes keep coming."""

    def __init__(self, stream: io.RawIOBase, sock: socket.socket, end: float) -> None:
        self._stream = stream
        self._socket = sock
        self._end = end  # by time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """Response that has to be complete at ``end``, by time.monotonic()."""

    def __init__(self, sock: socket.socket, *arguments: Any, end: float, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        stream = self.fp.detach()
        self.fp = io.BufferedReader(_TimedReader(stream, sock, end))


class _TimedHttp(http.client.HTTPConnection):
    """Connection whose answers, also a proxy's while it connects, have to be complete in time."""

    def connect(self) -> None:
        limit = self.timeout or LIMIT
        self._end_in(2 * limit)
        super().connect()
        self._end_in(limit)

    def _end_in(self, seconds: float) -> None:
        self.response_class = partial(_TimedResponse, end=time.monotonic() + seconds)  # type: ignore[assignment]


class _TimedHttps(_TimedHttp, http.client.HTTPSConnection):
    """The same with TLS, whose handshake Python limits by itself."""


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHttp, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHttps, req)


def _refusal(answer: bytes) -> str:
    """Return what Feishu (``code``) or DingTalk (``errcode``) refuses in an answer of status 200, else ""."""
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(content, dict):
        return ""
    code = content.get("errcode", content.get("code", 0))
    return "" if code in (0, None) else f"{code} {content.get('errmsg', content.get('msg', ''))}".strip()
