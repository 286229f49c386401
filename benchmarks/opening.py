"""What a user waits for: from the command until the first page, and until the first chart's data.

The page is served when its HTML and all that it links to (scripts, style sheets, texts) have come, over one
connection, without a browser. The chart's data are the lists that a page asks for, and one tag of eight runs.
"""

from __future__ import annotations

import gzip
import http.client
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from urllib.parse import quote, urljoin

from benchmarks.servers import Server

ROUNDS = 5
PATIENCE = 60.0  # seconds for the server to listen
PAUSE = 0.005  # seconds between two looks whether it does
LINKED = re.compile(rb'<(?:script|link)\b[^>]*?\b(?:src|href)="([^"#]+)"')
RUNS = range(8)


@dataclass(frozen=True)
class Opening:
    """Seconds from the start of the command; requests and bytes as they were sent."""

    page_cpu: float
    page_wall: float
    chart_cpu: float
    chart_wall: float
    requests: float
    megabytes: float

    def page(self) -> str:
        """CPU and wall seconds until the page is served."""
        return f"{self.page_cpu:.2f}, {self.page_wall:.2f}"

    def chart(self) -> str:
        """CPU and wall seconds until the chart's data are there, requests, and MB."""
        return f"{self.chart_cpu:.2f}, {self.chart_wall:.2f}, {self.requests:.0f}, {self.megabytes:.2f}"


class _Client:
    """Client with one connection that counts what it gets."""

    def __init__(self, server: Server) -> None:
        self._headers = {"Accept-Encoding": "gzip", "Accept": server.accept}
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.requests = self.size = 0

    def get(self, path: str) -> tuple[bytes, bool]:
        """Body as sent, and whether it is compressed."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != http.client.OK:
            raise ValueError(f"{path}: {answer.status}")
        self.requests += 1
        self.size += len(body)
        return body, answer.headers.get("Content-Encoding") == "gzip"

    def connect(self) -> None:
        self._connection.connect()

    def close(self) -> None:
        self._connection.close()


def opened(begin: Callable[[], Server], page: str, data: list[str]) -> Opening:
    """Medians of some rounds."""
    rounds = [_opened_once(begin, page, data) for _ in range(ROUNDS)]
    names = [field.name for field in fields(Opening)]
    return Opening(
        **{name: statistics.median(getattr(measured, name) for measured in rounds) for name in names}
    )


def _opened_once(begin: Callable[[], Server], page: str, data: list[str]) -> Opening:
    began = time.perf_counter()
    with begin() as server:
        client = _listening(server)
        html, packed = client.get(page)
        for path in linked(html, packed):
            client.get(urljoin(page, path))
        page_cpu, page_wall = server.cpu(), time.perf_counter() - began
        for path in data:
            _until_there(client, path)
        chart_cpu, chart_wall = server.cpu(), time.perf_counter() - began
        client.close()
    return Opening(page_cpu, page_wall, chart_cpu, chart_wall, client.requests, client.size / 1e6)


def _listening(server: Server) -> _Client:
    deadline = time.perf_counter() + PATIENCE
    while True:
        client = _Client(server)
        try:
            client.connect()
            return client
        except OSError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(PAUSE)


def linked(html: bytes, packed: bool) -> list[str]:
    """Addresses that a page links to, without those of data, each once."""
    if packed:
        html = gzip.decompress(html)
    paths = dict.fromkeys(match.decode() for match in LINKED.findall(html))
    return [path for path in paths if not path.startswith(("v2/", "data:"))]


def _until_there(client: _Client, path: str) -> None:
    """Ask until a run is there: a server that has just begun may still be looking for runs."""
    deadline = time.perf_counter() + PATIENCE
    while True:
        body, _ = client.get(path)
        if len(body) > 200 or "series" not in path or time.perf_counter() > deadline:
            return
        time.sleep(PAUSE)


def our_chart(tag: str) -> list[str]:
    """What the page of scalars asks for until it can draw its first chart."""
    runs = "".join(f"&run={quote(f'./run_{run}')}" for run in RUNS)
    return ["/v2/runs", "/v2/tags?kind=scalar", f"/v2/scalar/series?px=600&tag={quote(tag)}{runs}"]


def their_chart(tag: str) -> list[str]:
    """The same of TensorBoard, which asks run by run."""
    series = [f"/data/plugin/scalars/scalars?run=run_{run}&tag={quote(tag)}" for run in RUNS]
    return ["/data/environment", "/data/plugins_listing", "/data/runs", "/data/plugin/scalars/tags", *series]
