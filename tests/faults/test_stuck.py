"""Files that a reader never comes to the end of: other requests are answered, and the server can be ended."""

import os
import resource
import shutil
import socket
import threading
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "dumps"
AT_ONCE = 20


def fifo(base: Any) -> str:
    """A dump whose statistics are a pipe that nobody writes to."""
    with zipfile.ZipFile(DATA / "samples" / "ms_sync_full_stats.zip") as archive:
        archive.extractall(base / "dump")
    for path in list((base / "dump").rglob("statistic.csv")):
        path.unlink()
        os.mkfifo(path)
    return "v2/dump/tensors?dump={dump}&step={step}"


def sparse(base: Any) -> str:
    """A file of weights of a terabyte of nothing."""
    shutil.copytree(DATA / "ckpt", base / "weights")
    with (base / "weights" / "large.ckpt").open("wb") as file:
        file.truncate(1 << 40)
    return "v2/dump/checkpoint?file=./weights/large.ckpt"


@pytest.mark.parametrize("make", [fifo, sparse])
def test_twenty_requests_for_it_keep_nobody_waiting(base: Any, server: Any, wait: Any, make: Any) -> None:
    base.run("run")
    path = make(base.path)
    server.start(deadline=5.0)
    assert wait(lambda: server.steps() and server.steps().get("./run") == 99)
    if "{dump}" in path:
        assert wait(lambda: server.get("v2/dump/list")["dumps"])
        dump = server.get("v2/dump/list")["dumps"][0]["id"]
        step = server.get(f"v2/dump/summary?dump={dump}")["ranks"][0]["steps"][0]
        path = path.format(dump=dump, step=step)
    statuses = []

    def ask() -> None:
        try:
            server.get(path)
            statuses.append(200)
        except urllib.error.HTTPError as error:
            statuses.append(error.code)

    threads = [threading.Thread(target=ask) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for _ in range(10):  # while they wait
        assert server.get("health")["status"] == "ok"
        assert server.get("v2/scalar/series?run=./run&tag=loss")
        assert server.runs()
    for thread in threads:
        thread.join(120)
    assert len(statuses) == AT_ONCE
    assert set(statuses) <= {200, 422, 503}
    assert server.stop() == 0


def test_a_hundred_idle_connections_with_64_descriptors_deny_nobody(base: Any, server: Any) -> None:
    base.run("run")
    server.start(limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(100)]
    for _ in range(5):
        assert server.get("health")["status"] == "ok"
    for connection in idle:
        connection.close()


ENDLESS_PAYLOADS = """
import sys, time
from mindinsight.server.store import series
series.read_payload = lambda *values: time.sleep(600)
from mindinsight.server.process.serve import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "path",
    [
        "v2/image/picture?run=./run&tag=picture&row=0",
        "v1/mindinsight/datavisual/image/single-image?train_id=./run&tag=picture&step=0",
    ],
    ids=["v2", "v1"],
)
def test_payloads_that_never_come_keep_no_list_waiting(
    base: Any, server: Any, wait: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Lists and files of runs are answered by the light threads, of which there are eight."""
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", ENDLESS_PAYLOADS)
    with base.run("run").open("ab") as file:
        file.write(base.heavy(0, 100))
    server.start()
    assert wait(lambda: server.get("v2/tags?kind=image")["tags"])
    asking = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(AT_ONCE)]
    for connection in asking:
        connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    for _ in range(10):
        assert server.get("v2/runs/files?run=./run")["files"]
        assert server.get("v1/mindinsight/datavisual/train-jobs")["total"] == 1
    for connection in asking:
        connection.close()
    assert server.stop() == 0


ENDLESS_SEARCHES = """
import sys, time
from mindinsight.server.v1 import lineages
lineages.parse_search = lambda *values: time.sleep(600)
from mindinsight.server.process.serve import main
sys.exit(main())
"""


def test_searches_without_end_keep_no_series_waiting(
    base: Any, server: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MindInsight's search of lineages runs in threads, never in the event loop."""
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", ENDLESS_SEARCHES)
    base.run("run")
    server.start()
    assert wait(lambda: server.steps() == {"./run": 99})
    asking = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(AT_ONCE)]
    head = (
        "POST /v1/mindinsight/lineagemgr/lineages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
    )
    for connection in asking:
        connection.sendall(head.encode())
    for _ in range(10):
        assert server.get("health")["status"] == "ok"
        assert server.get("v2/scalar/series?run=./run&tag=loss")
    for connection in asking:
        connection.close()
    assert server.stop() == 0


ENDLESS_PIECES = """
import sys, time
from mindinsight.server.plugins.scalar import scalar_routes
scalar_routes.csv_of = lambda *values: (time.sleep(600) or "never" if n else "run,tag" for n in range(2))
from mindinsight.server.process.serve import main
sys.exit(main())
"""


def test_an_answer_that_stops_half_way_is_cut_so_that_its_client_sees_it(
    base: Any, server: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", ENDLESS_PIECES)
    base.run("run")
    server.start(deadline=1.0)
    assert wait(lambda: server.steps() == {"./run": 99})
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(b"GET /v2/scalar/download?run=./run&tag=loss HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"run,tag" in answer
    assert not answer.endswith(b"0\r\n\r\n")  # the end of a whole answer
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as metrics:
        assert 'work_cut_total{class="payloads"} 1' in metrics.read().decode()
    assert server.stop() == 0


STUCK = """
import sys, time
from pathlib import Path
from mindinsight.server.api import runs as tables
tables.thinned = lambda *values: (Path({begun!r}).touch(), time.sleep(600))
from mindinsight.server.process.serve import main
sys.exit(main())
"""


def test_threads_at_work_do_not_outlive_the_server(
    base: Any, server: Any, wait: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", STUCK.format(begun=str(begun)))
    base.run("run")
    server.start()
    assert wait(lambda: server.steps() == {"./run": 99})
    asking = socket.create_connection(("127.0.0.1", server.port))
    asking.sendall(b"GET /v2/runs/sparklines?tag=loss&run=./run HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert wait(begun.exists)
    assert server.get("health")
    server.process.terminate()
    assert server.process.wait(60) == 0
    asking.close()
