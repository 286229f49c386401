"""The servers that are compared: how each is started, when it has loaded a base, and how it is asked."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from benchmarks.encoding import Format
from benchmarks.processes import Processes
from mindinsight.server.http.responses import COLUMNS

QUIET = 0.05  # CPU seconds in a second and a half in which nothing is done any more


class NotLoadedError(Exception):
    """A server that is still loading when nobody waits for it any longer."""

    def __init__(self, cpu: float, seconds: int) -> None:
        super().__init__(f"{cpu:.0f} and not loaded after {seconds} s")


S = TypeVar("S", bound="Server")


class Server:
    """A server on a base directory; a context manager that ends it."""

    name = ""
    form: Format = "mindspore"
    accept = "*/*"  # what its own pages ask for
    first_page: tuple[str, ...] = ()  # what a browser asks for first
    patience = 900  # seconds
    port: int

    def __init__(self, command: list[str | Path]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        self._log = Path(self._folder.name) / "log"
        self._processes = Processes(command, self._log)
        self.cpu, self.memory = self._processes.cpu, self._processes.memory

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *error: object) -> None:
        self._processes.end()
        self._folder.cleanup()

    def loaded(self, runs: int) -> bool:
        """Whether all of ``runs`` are there; what is left to do shows in the CPU time."""
        raise NotImplementedError

    def series(self, run: str, tag: str) -> str:
        """Path that answers with one scalar series, every point that is kept."""
        raise NotImplementedError

    def wait(self, runs: int) -> float:
        """CPU seconds from the start until everything is loaded and nothing is done any more.

        Raises NotLoadedError.
        """
        deadline = time.monotonic() + self.patience
        while not self.is_loaded(runs):
            if self._processes.ended():
                raise ChildProcessError(f"{self.name} has ended: {self._log.read_text()[-2000:]}")
            self._wait(0.5, deadline)
        before = self.cpu()
        while True:
            self._wait(1.5, deadline)
            now = self.cpu()
            if now - before < QUIET:
                return now
            before = now

    def _wait(self, seconds: float, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise NotLoadedError(self.cpu(), self.patience)
        time.sleep(seconds)

    def is_loaded(self, runs: int) -> bool:
        try:
            return self.loaded(runs)
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            return False

    def open_page(self) -> None:
        """What a browser does first."""
        for path in self.first_page:
            fetch(self.port, path)

    def get(self, path: str) -> Any:
        return json.loads(self.get_bytes(path))

    def get_bytes(self, path: str) -> bytes:
        return fetch(self.port, path)


class Ours(Server):
    name = "ours"
    first_page = ("/", "/v2/runs", "/v2/tags?kind=scalar")
    accept = COLUMNS

    def __init__(self, base: Path, workspace: Path, *more: str, python: Path | None = None) -> None:
        """``python`` is that of the environment in which the command is installed, this one's by default."""
        self.port = free_port()
        command = (python or Path(sys.executable)).with_name("mindinsight")
        options: list[str | Path] = [
            "--summary-base-dir",
            base,
            "--workspace",
            workspace,
            "--port",
            str(self.port),
        ]
        super().__init__([command, "start", "--foreground", *options, *more])

    def loaded(self, runs: int) -> bool:
        health = self.get("/health")
        return health["runs"] == runs and health["bytes_read"] == health["bytes_total"]

    def series(self, run: str, tag: str) -> str:
        return f"/v2/scalar/series?px=0&run={quote(f'./{run}')}&tag={quote(tag)}"


class TensorBoard(Server):
    name = "TensorBoard"
    first_page = ("/", "/data/environment", "/data/plugins_listing", "/data/runs")
    form = "tensorboard"

    def __init__(
        self, python: Path, base: Path, kind: str = "scalars", keep: int | None = None, fast: bool = True
    ) -> None:
        """``fast`` is its loader in Rust, which it uses unless told otherwise; else the one in Python."""
        self.port = free_port()
        self._kind = kind
        samples = [] if keep is None else [f"--samples_per_plugin=scalars={keep}"]
        options: list[str | Path] = [
            "--logdir",
            base,
            "--port",
            str(self.port),
            f"--load_fast={str(fast).lower()}",
            *samples,
        ]
        super().__init__([python, "-m", "tensorboard.main", *options])

    def loaded(self, runs: int) -> bool:
        if self._kind == "graphs":
            return len(self.get("/data/plugin/graphs/info")) == runs
        answers = [self.get(f"/data/plugin/{kind}/tags") for kind in self._kind.split(",")]
        return sum(len(tags) > 0 for answer in answers for tags in answer.values()) == runs

    def series(self, run: str, tag: str) -> str:
        return f"/data/plugin/scalars/scalars?run={quote(run)}&tag={quote(tag)}"


class MindInsight(Server):
    name = "MindInsight"
    patience = 300
    limit = 15  # runs it keeps loaded

    def __init__(self, python: Path, base: Path) -> None:
        self.port = free_port()
        self._workspace = tempfile.TemporaryDirectory(prefix="benchmark-")
        options: list[str | Path] = [
            "--summary-base-dir",
            base,
            "--workspace",
            self._workspace.name,
            "--port",
            str(self.port),
        ]
        super().__init__([python.with_name("mindinsight"), "start", *options])

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._workspace.cleanup()

    def loaded(self, runs: int) -> bool:
        jobs = self.get("/v1/mindinsight/datavisual/train-jobs")["train_jobs"]
        chosen = jobs[: self.limit]
        body = json.dumps({"train_ids": [job["train_id"] for job in chosen]}).encode()
        if any(job["cache_status"] == "NOT_IN_CACHE" for job in chosen):
            fetch(self.port, "/v1/mindinsight/datavisual/train-job-caches", body)
        return len(jobs) == runs and all(job["cache_status"] == "CACHED" for job in chosen)

    def series(self, run: str, tag: str) -> str:
        return f"/v1/mindinsight/datavisual/scalars?train_id={quote(f'./{run}')}&tag={quote(f'{tag}/scalar')}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetch(port: int, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise ValueError(f"{path}: {answer.status} {data[:200]!r}")
    return data


def timed_requests(server: Server, paths: list[str], clients: int = 1) -> tuple[list[float], int]:
    """Seconds each request took, of ``clients`` at a time over kept connections, and bytes of the last."""
    seconds: list[float] = []
    sizes: list[int] = []

    def ask(mine: list[str]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for path in mine:
            began = time.perf_counter()
            connection.request("GET", path, headers={"Accept-Encoding": "gzip", "Accept": server.accept})
            sizes.append(len(connection.getresponse().read()))
            seconds.append(time.perf_counter() - began)
        connection.close()

    together([partial(ask, paths[client::clients]) for client in range(clients)])
    return seconds, sizes[-1]


def together(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
