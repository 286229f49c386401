"""Client of a web server that lists its folders: bounded listings and ranged reads of one origin.

Every response is read up to a limit, and a redirect is followed within the origin and to hosts that the user
named. The address of a name is checked before the connection to that address. Addresses of link-local
networks, where clouds give out credentials, are always refused.
"""

from __future__ import annotations

import errno
import http.client
import io
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit

from mindinsight.server.files.own_files import redirect_hosts
from mindinsight.server.files.remote_store import REQUESTS, StoreError, concurrently

TIMEOUT: Final = 30.0  # seconds in which a server must send something
# These limits bound what a hostile server can cost in memory and time. The page says when one was reached.
PAGE: Final = 8 << 20  # bytes of the listing of one folder
PAGES: Final = 20_000  # folders, the same number as in a local search for runs
ENTRIES: Final = 500_000  # files
DEPTH: Final = 20  # nested folders
CHARACTERS: Final = 256 << 20  # characters of all URLs of a listing; nested long names would multiply them
SECONDS: Final = 120.0  # seconds of one listing, and of one section
SKIP: Final = 64 << 20  # bytes skipped to get to a section, from a server without ranges
REDIRECTS: Final = 5  # of one request, one after the other
ADDRESSES: Final = 8  # addresses of one name that are tried
WAITS: Final = (2.0, 60.0)  # seconds between two requests for a file: at first, and while it stays the same
_METADATA: Final = frozenset(("metadata.google.internal", "metadata.goog", "metadata", "instance-data"))
_SERVICES: Final = frozenset(  # metadata services of clouds outside link-local networks
    ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
)
_EMBEDDING: Final = tuple(  # networks whose last 32 bits are an IPv4 address (RFC 4291, 6052, 2765)
    map(ipaddress.IPv6Network, ("::/96", "64:ff9b::/96", "::ffff:0:0:0/96"))
)
# Linear in the page, unlike html.parser, which takes seconds for some megabytes of `<`.
_LINK: Final = re.compile(
    r"""<a\s(?:[^<>]*?\s)?href\s{0,9}=\s{0,9}(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)


class LimitError(StoreError):
    """Error: a server sends too much, redirects elsewhere, or cannot return a section."""


class StatusError(Exception):
    """Error: a server responds with another status than success."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class WebStore:
    """Client of the files below one URL of a web server, with the used methods of an fsspec file system."""

    def __init__(self, url: str) -> None:
        self.root = url.rstrip("/") + "/"
        self.cut = False  # whether the last listing reached a limit
        self._pages: dict[str, _Seen] = {}
        self._heads: dict[str, _Seen] = {}
        self._streams: dict[str, _Stream] = {}
        self._characters = 0  # of the URLs that the known pages list
        self._lock = threading.Lock()

    def invalidate_cache(self) -> None:
        """Do nothing. Cached responses expire on their own."""

    def find(self, root: str, detail: bool = True) -> Mapping[str, Any]:
        """Return size, time and ETag of all files below `root` by URL, up to the limits of a listing.
        Raises StatusError if it refuses `root`, or for another failure. If there were more, `cut` is True.
        What the server refuses or lacks below `root` is left out."""
        self.cut = False
        self._characters = sum(len(link) for page in self._pages.values() for link in page.answer)
        until = time.monotonic() + SECONDS
        files: dict[str, None] = {}
        level, seen = [root.rstrip("/") + "/"], {root.rstrip("/") + "/"}
        for _ in range(DEPTH):
            links = {link: None for page in self._ask(self._pages, level, self._page, until) for link in page}
            files.update((link, None) for link in links if not link.endswith("/"))
            level = [link for link in links if link.endswith("/") and link not in seen]
            self.cut = self.cut or len(seen) + len(level) > PAGES or len(files) > ENTRIES
            level = level[: PAGES - len(seen)]
            seen.update(level)
            if not level or len(files) > ENTRIES:
                break
        self.cut = self.cut or bool(level)
        self._pages = {url: page for url, page in self._pages.items() if url in seen}
        addresses = list(files)[:ENTRIES]
        self._heads = {url: self._heads[url] for url in addresses if url in self._heads}
        infos = self._ask(self._heads, addresses, lambda url, _: self._head(url), until)
        return {url: self._heads[url].answer for url in addresses if url in self._heads} if infos else {}

    def info(self, address: str) -> Mapping[str, Any]:
        """Return size, time and ETag of one file. Raises StatusError or LimitError."""
        return self._head(address)

    def cat_file(self, address: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to before `end`, fewer if the file is shorter."""
        stream = self._kept(address, start)
        if stream is None:
            stream = self._open(address, start, end)
        try:
            data = stream.read(end - start)
        except BaseException:
            stream.connection.close()
            raise
        if stream.goes_on():
            self._keep(address, stream)  # of a server without ranges: the next section follows
        else:
            stream.connection.close()
        return data

    def _kept(self, address: str, start: int) -> _Stream | None:
        """Return the open response of an address that continues at `start`, or None. Close it if it is
        elsewhere."""
        with self._lock:
            stream = self._streams.pop(address, None)
        if stream is None or stream.at == start:
            if stream is not None:
                stream.connection.until = time.monotonic() + SECONDS
            return stream
        stream.connection.close()
        return None

    def _keep(self, address: str, stream: _Stream) -> None:
        """Keep a response open for the next section. Close the oldest one if there are `REQUESTS` already."""
        with self._lock:
            closed = [self._streams.pop(address, None)]
            if len(self._streams) >= REQUESTS:
                closed.append(self._streams.pop(next(iter(self._streams))))
            self._streams[address] = stream
        for other in filter(None, closed):
            other.connection.close()

    def _open(self, address: str, start: int, end: int) -> _Stream:
        """Request the bytes from `start` to before `end`, and return the stream of the response. Raises
        LimitError or StatusError."""
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        connection, answer = _request("GET", address, headers)
        try:
            if answer.status == 416:  # the section starts after the end of the file
                return _Stream(connection, answer, start, 0)
            if answer.status == 206:
                if not (answer.headers.get("Content-Range") or "").startswith(f"bytes {start}-"):
                    raise LimitError("remote.ranges")
                return _Stream(connection, answer, start, end - start)
            _check(answer.status)
            if start > SKIP:
                raise LimitError("remote.ranges")
            stream = _Stream(connection, answer, 0, None)
            while stream.at < start and stream.read(min(1 << 20, start - stream.at)):
                pass
        except BaseException:
            connection.close()
            raise
        return stream

    def _ask(
        self, known: dict[str, _Seen], urls: list[str], ask: Callable[[str, _Seen | None], Any], until: float
    ) -> list[Any]:
        """Return the response for each URL, where expired responses are requested again, several at once."""

        def look(url: str) -> Any:
            if time.monotonic() > until:
                self.cut = True
                return None
            try:
                return ask(url, known.get(url))
            except StatusError as error:
                if url == self.root or error.status not in (401, 403, 404, 410):  # of this file alone
                    raise
                seen = known.get(url)
                return seen.answer if seen and error.status in (401, 403) else None  # refused is not missing

        now = time.monotonic()
        due = [url for url in urls if (seen := known.get(url)) is None or seen.due <= now]
        for url, answer in zip(due, concurrently(look, due), strict=True):
            seen = known.pop(url, None)
            if answer is not None:
                wait = min(2 * seen.wait, WAITS[1]) if seen and seen.answer == answer else WAITS[0]
                known[url] = _Seen(answer, wait, now + wait)
        return [known[url].answer for url in urls if url in known]

    def _page(self, folder: str, seen: _Seen | None) -> _Links:
        """Return the URLs that the page of a folder lists, with the ETag of the page. An unchanged page
        returns ``seen``."""
        tag = seen.answer.tag if seen else ""
        headers = {"Accept-Encoding": "identity"} | ({"If-None-Match": tag} if tag else {})
        connection, answer = _request("GET", folder, headers)
        try:
            if answer.status == 304 and seen:
                links: _Links = seen.answer
                return links
            _check(answer.status)
            text = _Stream(connection, answer, 0, PAGE + 1).read(PAGE + 1)
        finally:
            connection.close()
        self.cut = self.cut or len(text) > PAGE
        matches = _LINK.finditer(text[:PAGE].decode("utf-8", "replace"))
        targets = list(dict.fromkeys(unescape(next(filter(None, match.groups()), "")) for match in matches))
        links_inside = _Links(self._within_limit(folder, targets, seen.answer if seen else ()))
        links_inside.tag = (answer.headers.get("ETag") or "")[:200]
        return links_inside

    def _within_limit(self, folder: str, links: list[str], before: tuple[str, ...]) -> Iterator[str]:
        """Yield the URLs of links in a folder, until the listing has too many characters."""
        with self._lock:
            self._characters -= sum(map(len, before))
        for link in filter(None, (_inside(folder, href) for href in links)):
            if self._characters + len(link) > CHARACTERS:
                self.cut = True
                return
            with self._lock:
                self._characters += len(link)
            yield link

    def _head(self, address: str) -> Mapping[str, Any]:
        """Return size, time and ETag of a file, by a HEAD request. Raises StatusError."""
        connection, answer = _request("HEAD", address, {"Accept-Encoding": "identity"})
        connection.close()
        _check(answer.status)
        length = answer.headers.get("Content-Length", "")
        try:
            modified = parsedate_to_datetime(answer.headers.get("Last-Modified", "")).timestamp()
        except (TypeError, ValueError, IndexError, OverflowError):
            modified = 0.0
        size = int(length) if length.isdecimal() and len(length) < 19 else 0
        return {"size": size, "mtime": modified, "ETag": answer.headers.get("ETag", "")[:200]}


class _Links(tuple[str, ...]):
    """URLs that a folder lists, directly inside it."""

    tag = ""  # of the page


class _Seen:
    """Last response of a server, and when it expires (monotonic seconds)."""

    def __init__(self, answer: Any, wait: float, due: float) -> None:
        self.answer, self.wait, self.due = answer, wait, due  # seconds; monotonic time


class _Stream:
    """Body of a response, read in parts. At most `limit` bytes are read."""

    def __init__(
        self,
        connection: _Connection,
        answer: http.client.HTTPResponse,
        at: int,
        limit: int | None,
    ) -> None:
        self.connection = connection
        self.at = at  # offset in the file
        self._answer = answer
        self._limit = limit

    def goes_on(self) -> bool:
        """Return True if the response is a whole file, and bytes of it are not yet read."""
        return self._limit is None and not self._answer.isclosed() and self._answer.length != 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end."""
        size = size if self._limit is None else min(size, self._limit)
        pieces: list[bytes] = []
        while size > 0 and (piece := self._answer.read1(min(size, 1 << 20))):
            pieces.append(piece)
            size -= len(piece)
            self.at += len(piece)
        return b"".join(pieces)


class _Connection(http.client.HTTPConnection):
    """Connection that ends each read by `until`, in monotonic seconds, however slowly bytes arrive.

    The standard library reads headers, chunk sizes and trailers byte by byte and without a time limit.
    """

    def __init__(self, host: str, port: int, peer: socket.socket) -> None:
        super().__init__(host, port, timeout=TIMEOUT)
        self.sock = peer
        self.until = time.monotonic() + SECONDS
        self.response_class = self._response  # type: ignore[assignment]

    def _response(self, peer: socket.socket, *args: Any, **options: Any) -> http.client.HTTPResponse:
        """Return a response that reads with a time limit."""
        answer = http.client.HTTPResponse(peer, *args, **options)
        answer.fp = io.BufferedReader(_TimedReader(answer.fp.detach(), peer, self))
        return answer


class _TimedReader(io.RawIOBase):
    """Raw reader of a socket that raises TimeoutError at the connection's `until`."""

    def __init__(self, raw: Any, peer: socket.socket, connection: _Connection) -> None:
        super().__init__()
        self._raw, self._peer, self._connection = raw, peer, connection

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read bytes into a buffer and return their number, or None if none are available. Raises
        TimeoutError."""
        left = self._connection.until - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, "the server responds too slowly")
        self._peer.settimeout(min(TIMEOUT, left))
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        """Close the reader."""
        self._raw.close()
        super().close()


def check_address(host: str, address: str) -> None:
    """Raise LimitError for an address that no store has: link-local, multicast, or a cloud's metadata
    service."""
    number = ipaddress.ip_address(address.partition("%")[0])
    forms = [number, getattr(number, "ipv4_mapped", None), getattr(number, "sixtofour", None)]
    if any(number.version == 6 and number in network for network in _EMBEDDING):
        forms.append(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF))
    refused = any(form.is_link_local or form.is_multicast or str(form) in _SERVICES for form in forms if form)
    if refused or host.rstrip(".").lower() in _METADATA:
        raise LimitError("remote.address")


def _request(
    method: str, url: str, headers: Mapping[str, str]
) -> tuple[_Connection, http.client.HTTPResponse]:
    """Make a request, follow allowed redirects, and return the connection, to be closed, and the response."""
    origin = urlsplit(url)
    for _ in range(REDIRECTS + 1):
        split = urlsplit(url)
        connection = _connect(split)
        try:
            target = split.path or "/"
            target += f"?{split.query}" if split.query else ""
            connection.request(method, target, headers=dict(headers))
            answer = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        if answer.status not in (301, 302, 303, 307, 308):
            return connection, answer
        connection.close()
        url = urljoin(url, answer.headers.get("Location", ""))
        _check_redirect(origin, urlsplit(url))
    raise LimitError("remote.redirect")


def _check_redirect(origin: SplitResult, target: SplitResult) -> None:
    """Raise LimitError for a redirect to another origin that the user did not name."""
    same = (origin.scheme, origin.hostname, _port(origin)) == (target.scheme, target.hostname, _port(target))
    secure = target.scheme in ("http", "https") and (target.scheme == "https" or origin.scheme == "http")
    if not same and not (secure and target.hostname in redirect_hosts):
        raise LimitError("remote.redirect")


def _port(split: SplitResult) -> int:
    """Return the port of a URL."""
    return split.port or (443 if split.scheme == "https" else 80)


def _connect(split: SplitResult) -> _Connection:
    """Return a connection to a checked address of a host, so that its name cannot change in between."""
    host = split.hostname or ""
    infos = socket.getaddrinfo(host, _port(split), type=socket.SOCK_STREAM)
    addresses = [str(info[4][0]) for info in infos]
    for address in addresses:
        check_address(host, address)
    peer = _first_that_answers(addresses, _port(split))
    if split.scheme == "https":
        try:
            peer = ssl.create_default_context().wrap_socket(peer, server_hostname=host)
        except BaseException:
            peer.close()
            raise
    return _Connection(host, _port(split), peer)


def _first_that_answers(addresses: list[str], port: int) -> socket.socket:
    """Return a socket connected to the first address that accepts. Raises the OSError of the last one."""
    *others, last = addresses[:ADDRESSES]
    for address in others:
        with suppress(OSError):
            return socket.create_connection((address, port), TIMEOUT)
    return socket.create_connection((last, port), TIMEOUT)


def _check(status: int) -> None:
    """Raise StatusError unless the status is a success."""
    if not 200 <= status < 300:
        raise StatusError(status)


def _inside(folder: str, href: str) -> str:
    """Return the URL of a link directly in a folder, or an empty text for any other."""
    try:
        split = urlsplit(urljoin(folder, href))
    except ValueError:
        return ""
    url = f"{split.scheme}://{split.netloc}{split.path}"
    name = url.removeprefix(folder).removesuffix("/")
    return url if url.startswith(folder) and 0 < len(name) < 1000 and "/" not in name else ""
