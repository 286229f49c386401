"""No descriptors, no disk, clients by the hundred, clients that go or never read."""

import hashlib
import resource
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

STREAMS = 500
SCRIPT = "/static/any/plotly.min.js"
NO_FILES = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (64, 64))
NO_DISK = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
SHORT = partial(resource.setrlimit, resource.RLIMIT_AS, (520_000 << 10, 520_000 << 10))
LARGE = 2 << 20  # numbers of four bytes: three times as much is claimed for each
ASKERS = 32


def connect(server: Any, path: str = "/v2/events", window: Any = None) -> Any:
    """A connection on which something was asked for and nothing was read; of so many bytes it takes some."""
    connection = socket.socket()
    connection.settimeout(60)
    if window is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection


def metric(server: Any, name: Any) -> float:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        text = b"".join(iter(partial(connection.recv, 65_536), b"")).decode()
    return float(text.partition(f"\nmindinsight_{name} ")[2].partition("\n")[0])


def test_without_descriptors_it_waits_and_goes_on(base: Any, server: Any, wait: Any) -> None:
    path = base.run("a")
    server.start(limits=NO_FILES, watch="polling")
    assert server.shows(a=99) is True
    held = [connect(server) for _ in range(100)]
    time.sleep(0.5)
    with path.open("ab") as file:
        file.write(base.records(100, 110))
    for connection in held:
        connection.close()
    assert server.shows(a=109) is True
    assert server.process.poll() is None


def test_150_streams_with_64_descriptors_leave_room_for_requests(base: Any, server: Any) -> None:
    """Streams are refused first, with a reason and a time; those that are open go on."""
    path = base.run("a")
    server.start(limits=NO_FILES, watch="polling")
    assert server.shows(a=99) is True
    streams, heads = [], []
    for _ in range(150):
        streams.append(connect(server))
        heads.append(streams[-1].recv(65_536))
    refused = [head for head in heads if head.startswith(b"HTTP/1.1 503")]
    assert len(refused) > 100
    assert all(b"retry-after: 10" in head.lower() for head in refused)
    for _ in range(20):
        assert server.get("health")["status"] == "ok"
    with path.open("ab") as file:
        file.write(base.records(100, 110))
    assert server.shows(a=109) is True
    assert any(b"200 OK" in head for head in heads)
    for stream in streams:
        stream.close()


def test_a_full_disk_costs_the_cache_and_nothing_else(base: Any, server: Any) -> None:
    """No file may grow by a byte: what the system answers is what a full disk does."""
    base.run("a")
    server.start(limits=NO_DISK)
    assert server.shows(a=99) is True
    base.run("a", 100, 200)
    assert server.shows(a=199) is True
    assert server.stop() == 0
    server.start()
    assert server.shows(a=199) is True


def test_short_memory_refuses_with_its_reason_and_answers_as_before_afterwards(
    base: Any, server: Any, wait: Any
) -> None:
    """Clients ask for large tensors in half a gigabyte of addresses; nothing hangs."""
    base.run("a")
    numbers = np.arange(LARGE, dtype=np.float32)
    np.savez(base.path / "large.npz", w0=numbers, w1=numbers)
    server.start(limits=SHORT)
    assert server.shows(a=99) is True
    paths = [
        f"v2/dump/checkpoint/{name}?file=./large.npz&name=w{n}"
        for name in ("values", "histogram", "heatmap", "download")
        for n in range(2)
    ]
    before = {path: answer(server, path) for path in paths}
    assert {status for status, _ in before.values()} == {200}
    with ThreadPoolExecutor(ASKERS) as askers:
        answers = list(askers.map(partial(answer, server), paths * (ASKERS // len(paths))))
    refused = {body for status, body in answers if status != 200}
    assert {status for status, _ in answers} <= {200, 503}
    assert all(b'"memory_short"' in body or b'"busy"' in body for body in refused), refused
    assert server.get("health")["status"] == "ok"
    assert wait(lambda: {path: answer(server, path) for path in paths} == before)
    assert server.stop() == 0


def answer(server: Any, path: str) -> tuple[int, bytes]:
    """Status and the sum of the body, or the text of an error."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/{path}", timeout=60) as response:
            return response.status, hashlib.sha256(response.read()).digest()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_five_hundred_streams_and_all_of_them_leave(base: Any, server: Any, wait: Any) -> None:
    base.run("a")
    server.start()
    streams = [connect(server) for _ in range(STREAMS)]
    assert wait(lambda: metric(server, "streams_open") == STREAMS)
    base.run("a", 100, 110)
    assert server.shows(a=109) is True
    for stream in streams:
        assert b"200 OK" in stream.recv(65_536)
        stream.close()
    assert wait(lambda: metric(server, "streams_open") == 0)


def test_clients_that_leave_in_the_middle_or_never_read_disturb_nobody(base: Any, server: Any) -> None:
    base.run("a", 0, 50_000)
    server.start()
    assert server.shows(a=49_999) is True
    address = "/v2/scalar/series?run=./a&tag=loss&px=0"
    silent = [connect(server, address) for _ in range(20)]
    for _ in range(50):
        connect(server, address).close()
    before = server.memory()
    threads = [threading.Thread(target=server.get, args=(address[1:],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.runs()["./a"]["step"] == 49_999
    assert server.memory() - before < 100 << 20
    for connection in silent:
        connection.close()


def test_memory_returns_after_three_hundred_slow_clients_of_the_largest_script(
    base: Any, server: Any, wait: Any
) -> None:
    """Each asks for the script and reads nothing of it."""
    base.run("a")
    server.start()
    assert server.shows(a=99) is True
    with connect(server, SCRIPT) as connection:  # which reads the file and packs it
        assert b"200 OK" in connection.recv(65_536)
    before = server.memory()
    slow = [connect(server, SCRIPT, window=4096) for _ in range(300)]
    for connection in slow:
        assert b"200 OK" in connection.recv(100)
    assert wait(lambda: server.memory() - before > 15 << 20)
    assert server.get("health")
    used = server.memory() - before
    assert used < 100 << 20
    for connection in slow:
        connection.close()
    assert wait(lambda: server.memory() - before < used / 2)
