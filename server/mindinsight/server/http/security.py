"""Security middleware: host and token checks, headers that restrict a page, and limits of request bodies."""

import asyncio
import hashlib
import hmac
import ipaddress
import re
import socket
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mindinsight.server.errors import ApiError
from mindinsight.server.http.responses import json_response
from mindinsight.server.settings import Settings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN_PATHS = frozenset({"/health"})  # answered without a token, because the response names no data
INTERFACES = ("/v1/", "/v2/")  # for our pages and for scripts
ErrorOf: TypeAlias = Callable[[str, ApiError], Response]
Refusal: TypeAlias = "tuple[int, str, str]"  # status, code and message
NOT_HERE = (404, "not_found", "Nothing exists at this address.")
_HOST = "This host name is not allowed. Start the server with --allow-host NAME."
UNKNOWN_HOST = (421, "unknown_host", _HOST)
FOREIGN_ORIGIN = (403, "foreign_origin", "A page of another site may not change anything on this server.")
FOREIGN_SITE = (403, "foreign_site", "A page of another site may not request anything from this server.")
TOKEN_REQUIRED = (401, "token_required", "A token is required. It was printed when the server started.")
_FORWARDED_PREFIX = re.compile(r"(/[A-Za-z0-9_\-.~]+)*")


class Security:
    """ASGI middleware that checks requests, adds headers, and sets the prefix under which the server is
    reached.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        ask_for_token: Callable[[Request], str],
        error_of: ErrorOf = lambda path, error: error_response(error),
    ) -> None:
        """Wrap `app`, where `ask_for_token` returns the page for a browser without a valid token.
        `error_of` returns the response to a rejected request for a path (without prefixes)."""
        self.app = app
        self._ask = ask_for_token
        self._error_of = error_of
        self._prefix = settings.url_path_prefix
        self._token = settings.token or ""
        self._names = host_names(settings.allowed_hosts)
        self._cookie = f"mindinsight_{settings.port}"
        # hexadecimal, because a token may hold characters that a cookie may not
        self._mark = hashlib.sha256(f"cookie of {self._token}".encode()).hexdigest()
        headers = answer_headers(settings.frame_ancestors).items()
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope = below_prefix(scope, forwarded_prefix(headers.get("x-forwarded-prefix", "")), self._prefix)
        refusal = self._refuse(scope, headers)
        await (refusal or self.app)(scope, receive, self._with_headers(send))

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the error response to a rejected request, or None if it is allowed."""
        root = scope["root_path"]
        path = scope["path"][len(root) :]
        if root and not scope["path"].startswith(root + "/"):
            return self._outside(scope)
        if not self._knows_host(headers.get("host", "")):
            return self._error(scope, UNKNOWN_HOST)
        if scope["method"] not in SAFE_METHODS and not same_origin(headers):
            return self._error(scope, FOREIGN_ORIGIN)
        if path.startswith(INTERFACES) and not same_site(headers):
            return self._error(scope, FOREIGN_SITE)
        if self._token and path not in OPEN_PATHS:
            return self._check_token(scope, headers)
        return None

    def _outside(self, scope: Scope) -> Response:
        if scope["path"] == scope["root_path"]:
            return RedirectResponse(scope["root_path"] + "/", 308)
        return self._error(scope, NOT_HERE)

    def _error(self, scope: Scope, refusal: Refusal) -> Response:
        return self._error_of(scope["path"].removeprefix(scope["root_path"]), ApiError(*refusal))

    def _knows_host(self, host: str) -> bool:
        """Return True if the host name is allowed. With a token any name is, because a foreign name never
        has the cookie."""
        name = host_name(host)
        return bool(self._token) or is_address(name) or name.lower() in self._names

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = dict(query).get("token")
        if shown is not None and _equal(shown, self._token):
            return self._remember(scope, [pair for pair in query if pair[0] != "token"])
        marked = _equal(cookie(headers, self._cookie), self._mark)
        if marked or _equal(bearer(headers), self._token) or _equal(utf8(bearer(headers)), self._token):
            return None
        if "text/html" in headers.get("accept", ""):
            return HTMLResponse(self._ask(Request(scope)), 401)
        return self._error(scope, TOKEN_REQUIRED)

    def _remember(self, scope: Scope, query: list[tuple[str, str]]) -> Response | None:
        """Return a redirect that stores the token in a cookie and removes it from the address, or None for a
        changing method."""
        if scope["method"] not in SAFE_METHODS:
            return None
        # without colon and backslash, so that the target is on this site
        last = quote(scope["path"].rsplit("/", 1)[1], safe="")
        target = f"./{last}" + ("?" + urlencode(query) if query else "")
        answer = RedirectResponse(target, 303)
        path, month = scope["root_path"] or "/", 30 * 86400
        answer.set_cookie(self._cookie, self._mark, month, path=path, httponly=True, samesite="lax")
        return answer

    def _with_headers(self, send: Send) -> Send:
        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                ours = [pair for pair in self._headers if pair[0] not in present]
                message = {**message, "headers": [*message["headers"], *ours]}
            await send(message)

        return wrapped


def answer_headers(frame_ancestors: Iterable[str] = ()) -> dict[str, str]:
    """Return the headers of every response that does not set them itself. Plotly needs `style-src
    'unsafe-inline'`, because it sets style attributes."""
    ancestors = " ".join(["'self'", *frame_ancestors])
    policy = (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors "
        + ancestors
    )
    headers = {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return headers if frame_ancestors else {**headers, "X-Frame-Options": "SAMEORIGIN"}


def host_names(allowed: Iterable[str]) -> frozenset[str]:
    """Return the names of this host and the allowed ones, in lower case."""
    own = socket.gethostname()
    return frozenset(name.lower() for name in ("localhost", own, own.split(".", maxsplit=1)[0], *allowed))


def host_name(host: str) -> str:
    """Return a host without its port: `[::1]:8080` becomes `::1`, `name:8080` becomes `name`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


@lru_cache(maxsize=16)  # called for every request, almost always with the same name
def is_address(name: str) -> bool:
    """Return True if a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def same_origin(headers: Headers) -> bool:
    """Return True if a request comes from one of our pages, or from no page (a script)."""
    if not same_site(headers):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    site = urlsplit(origin).netloc  # empty for "null": a sandboxed frame or a file
    return site != "" and site in (headers.get("host"), headers.get("x-forwarded-host"))


def same_site(headers: Headers) -> bool:
    """Return True if `Sec-Fetch-Site` says that our pages or the user made the request. True also without
    the header, because scripts send none."""
    return headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def forwarded_prefix(value: str) -> str:
    """Return the path prefix that a proxy removed, or "" if it is not a plain path. `//host` would be
    another site."""
    path = value.rstrip("/")
    return path if _FORWARDED_PREFIX.fullmatch(path) else ""


def below_prefix(scope: Scope, taken: str, prefix: str) -> Scope:
    """Return the scope with the path that the client requested in `path`, and both prefixes in
    `root_path`. `taken` is the prefix of a proxy, "" without one. Some proxies remove it from the path,
    and it is put back. `prefix` is that of the server itself. The path keeps it."""
    path = scope["path"]
    if taken and path != taken and not path.startswith(taken + "/"):
        path = taken + path
    return {**scope, "path": path, "root_path": taken + prefix}


def cookie(headers: Headers, name: str) -> str:
    """Return the value of the cookie `name`, or "" if there is none or the header is invalid."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def bearer(headers: Headers) -> str:
    """Return the bearer token of a request, or "" if there is none."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value if scheme.lower() == "bearer" else ""


def utf8(value: str) -> str:
    """Decode a header's value, which came as Latin-1, as UTF-8. Invalid bytes become U+FFFD."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace")


def _equal(shown: str, secret: str) -> bool:
    return hmac.compare_digest(shown.encode("utf-8", "replace"), secret.encode("utf-8", "replace"))


def error_response(error: ApiError) -> Response:
    """Return an error as a response of `/v2`."""
    response = json_response(error.body(), error.status)
    response.headers.update(error.headers)
    return response


LARGEST: Final = 8 << 20  # bytes of a body
SECONDS: Final = 30.0  # without data after which a body is abandoned
WHOLE: Final = 120.0  # seconds for a whole body: the largest within them needs half a megabit a second


class BodyLimit:
    """ASGI middleware that answers 413 to a body that is, or announces to be, too large.

    A client that sends nothing of its body for 30 seconds, or not all of it within two minutes, gets 408.
    """

    def __init__(self, app: ASGIApp, error_of: ErrorOf = lambda path, error: error_response(error)) -> None:
        """Wrap `app`, where `error_of` returns the response to a rejected body for a path (without
        prefixes)."""
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
            error = ApiError(408, "slow_body", "The body of the request did not arrive in time.")
        else:
            text = f"The body of the request is larger than {LARGEST >> 20} MB."
            error = ApiError(413, "large_body", text, size=LARGEST >> 20)
        answer = self._error_of(scope["path"].removeprefix(scope.get("root_path", "")), error)
        answer.headers["Connection"] = "close"
        return answer


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Body:
    """Counter of received bytes, which also records if a response has begun."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.started = False
        self._receive = receive
        self._send = send
        self._size = 0
        self._until = 0.0  # monotonic time at which all of it must be here
        self._whole = False
        self._refusal = 0

    async def receive(self) -> Message:
        """Return the next message. Raises _Refused if the body is too large or too slow."""
        if self._whole:
            return await self._receive()  # the disconnect, without a time limit
        try:
            self._until = self._until or time.monotonic() + WHOLE
            message = await asyncio.wait_for(self._receive(), min(SECONDS, self._until - time.monotonic()))
        except asyncio.TimeoutError:
            raise self._refused(408) from None
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > LARGEST:
            raise self._refused(413)
        return message

    async def send(self, message: Message) -> None:
        """Send a message. Raises _Refused if the application answers an error raised by `receive`, because
        our response is sent instead."""
        if self._refusal and not self.started:
            raise _Refused(self._refusal)
        self.started = True
        await self._send(message)

    def _refused(self, status: int) -> _Refused:
        self._refusal = status
        return _Refused(status)
