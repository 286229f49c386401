"""Three servers on one base and one workspace behind a real nginx, asked in turn."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord

DATA = Path(__file__).parents[1] / "data"
CONFIGURATION = Path(__file__).parents[2] / "docker" / "nginx.conf"
SERVERS = 3


class Site:
    """The servers, and nginx before them."""

    def __init__(self, folder: Path) -> None:
        self.base, self.workspace, self._folder = folder / "base", folder / "workspace", folder
        self.base.mkdir()
        self.ports = [_free_port() for _ in range(SERVERS)]
        self.port = _free_port()
        self.servers = [self._serve(port) for port in self.ports]
        self._nginx = self._start_nginx()

    def _serve(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground"]
        folders = ["--summary-base-dir", str(self.base), "--workspace", str(self.workspace)]
        environ = {**os.environ, "XDG_STATE_HOME": str(self._folder / "state")}
        return subprocess.Popen(
            [*command, *folders, "--port", str(port)], env=environ, stdout=subprocess.DEVNULL
        )

    def _start_nginx(self) -> subprocess.Popen[bytes]:
        """nginx with the configuration we hand out, without TLS, and with these ports."""
        text = CONFIGURATION.read_text()
        for number, port in enumerate(self.ports, 1):
            text = text.replace(f"mindinsight-{number}:8080", f"127.0.0.1:{port}")
        text = text.replace("least_conn;", "").replace("listen 443 ssl;", f"listen 127.0.0.1:{self.port};")
        text = re.sub(r"\n *ssl_certificate.*", "", text)
        logs = f"pid {self._folder}/nginx.pid; error_log {self._folder}/error.log;"
        main = f"daemon off; worker_processes 1; {logs} events {{ }} http {{ access_log off;\n"
        path = self._folder / "nginx.conf"
        path.write_text(f"{main}{text}}}\n")
        return subprocess.Popen(["nginx", "-c", str(path), "-p", str(self._folder)])

    def ask(self, path: str, method: str = "GET", **fields: Any) -> tuple[int, Any]:
        """Status and content of an answer by way of nginx."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        origin = {"Origin": f"http://127.0.0.1:{self.port}", "Host": f"127.0.0.1:{self.port}"}
        headers = {"Content-Type": "application/json", **origin} if fields else origin
        try:
            connection.request(method, f"/{path}", json.dumps(fields) if fields else None, headers)
            answer = connection.getresponse()
            content = answer.read()
            is_json = "json" in (answer.getheader("Content-Type") or "")
            return answer.status, json.loads(content) if is_json else content
        finally:
            connection.close()

    def direct(self, port: int, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", f"/{path}")
            return json.loads(connection.getresponse().read())
        except OSError:
            return None
        finally:
            connection.close()

    def wait(self, condition: Any, seconds: float = 60) -> Any:
        end = time.monotonic() + seconds
        while not (value := condition()) and time.monotonic() < end:
            time.sleep(0.1)
        return value

    def show(self, runs: int) -> None:
        """Wait until every server shows so many runs, all of them read."""

        def read(port: int) -> bool:
            answer = self.direct(port, "v2/runs") or {"runs": []}
            return len(answer["runs"]) == runs and all(run["read"] == run["total"] for run in answer["runs"])

        assert self.wait(lambda: all(read(port) for port in self.ports))

    def end(self) -> None:
        for process in (self._nginx, *self.servers):
            process.terminate()
        for process in (self._nginx, *self.servers):
            process.wait(30)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    for name in ("a", "b", "c"):
        write_run(site, name, range(100))
    shutil.copytree(DATA / "dumps" / "msprobe_pytorch" / "L1_tensor_statistics", site.base / "dumps")
    site.show(runs=len(list(site.base.glob("[abc]"))) + count_dump_runs(site))
    yield site
    site.end()


def count_dump_runs(site: Site) -> int:
    """Runs that are folders of dumps alone, as the first server finds them."""
    listing = site.wait(lambda: (site.direct(site.ports[0], "v2/runs") or {}).get("runs"))
    return sum(run["id"] not in ("./a", "./b", "./c") for run in listing)


def write_run(site: Site, name: str, steps: range) -> None:
    with SummaryRecord(str(site.base / name)) as record:
        for step in steps:
            record.add_value("scalar", "loss", 1 / (step + 1))
            record.record(step)


def test_nothing_that_many_change_at_once_is_lost(site: Site) -> None:
    def note(number: int) -> int:
        fields = {"run": f"./{'abc'[number % 3]}", "note": f"note {number}"}
        view = {"name": f"view {number}", "view": "scalar", "query": "runs=a"}
        assert site.ask("v2/views", "PUT", **view)[0] == 200
        return site.ask("v2/runs/notes", "PATCH", **fields)[0]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(note, range(60))) == {200}
    for port in site.ports:
        notes = {run["id"]: run["note"] for run in site.direct(port, "v2/runs")["runs"]}
        assert all(notes[f"./{name}"].startswith("note ") for name in "abc")
        assert notes == {run["id"]: run["note"] for run in site.direct(site.ports[0], "v2/runs")["runs"]}
        views = [view["name"] for view in site.direct(port, "v2/views")["views"]]
        assert sorted(views) == sorted(f"view {number}" for number in range(60))


def test_a_comparison_is_read_from_whichever_server(site: Site) -> None:
    side = {"dump": "./dumps", "rank": 0, "step": 0}
    status, started = site.ask("v2/dump/compare", "POST", target=side, reference=side)
    assert status == 200, started
    path = f"v2/dump/compare/{started['comparison']}"
    for _ in range(2 * SERVERS):
        answer = site.wait(lambda: body if (body := site.ask(path)[1]).get("done") else None)
        assert answer["rows"]
        assert not answer["error"]


def test_a_list_is_never_taken_for_that_of_another_server(site: Site) -> None:
    tags = set()
    for port in site.ports:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/v2/runs")
        answer = connection.getresponse()
        answer.read()
        tags.add(answer.getheader("ETag"))
    assert len(tags) == SERVERS


def test_a_run_that_grows_is_followed_and_one_dead_server_is_not_noticed(site: Site) -> None:
    heard: list[bytes] = []
    stream = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    stream.request("GET", "/v2/events", headers={"Host": f"127.0.0.1:{site.port}"})
    answer = stream.getresponse()
    threading.Thread(target=lambda: [heard.append(line) for line in answer], daemon=True).start()
    assert site.wait(lambda: any(b"hello" in line for line in heard))
    write_run(site, "a", range(100, 150))
    assert site.wait(lambda: any(b"./a" in line for line in heard))
    site.servers[1].kill()
    site.servers[1].wait()
    for _ in range(4 * SERVERS):
        status, listed = site.ask("v2/runs")
        assert status == 200
        assert {"./a", "./b", "./c"} <= {run["id"] for run in listed["runs"]}

    def count() -> int:
        return int(site.ask("v2/scalar/series?run=./a&tag=loss&px=0")[1]["series"][0]["count"])

    assert site.wait(lambda: {count() for _ in range(6)} == {150})
