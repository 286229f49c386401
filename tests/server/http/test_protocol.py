"""Connections that only stay open, over real sockets."""

import select
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from mindinsight.server.http import protocol
from mindinsight.server.http.protocol import Protocol

GOOD = b"GET / HTTP/1.1\r\nHost: x\r\n"
LONG = 60.0
ASKED: list[str] = []  # methods of the requests that came to the app


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers with as many bytes as the path says."""
    ASKED.append(scope["method"])
    if scope["query_string"] == b"hold":
        time.sleep(0.5)
    size = int(scope["path"][1:] or 2)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(0, size, 1 << 16):
        await send({"type": "http.response.body", "body": bytes(min(size, 1 << 16)), "more_body": True})
    await send({"type": "http.response.body"})


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """connect(HEAD_SECONDS=…) -> a new connection to a server with these limits."""
    servers: list[Any] = []
    sockets: list[Any] = []

    def begin(**limits: Any) -> Any:
        for name, value in limits.items():
            monkeypatch.setattr(protocol, name, value)
        if not servers:
            listening = socket.create_server(("127.0.0.1", 0))
            config = uvicorn.Config(
                app, http=Protocol, lifespan="off", log_config=None, timeout_keep_alive=600
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            servers.append((server, thread, listening))
        sockets.append(socket.create_connection(servers[0][2].getsockname(), timeout=LONG))
        return sockets[-1]

    yield begin
    for connection in sockets:
        connection.close()
    for server, thread, listening in servers:
        server.should_exit = True
        thread.join()
        listening.close()


def answered(connection: Any) -> Any:
    """Ask, and read the answer to its end."""
    connection.sendall(GOOD + b"\r\n")
    answer = b""
    while not answer.endswith(b"0\r\n\r\n"):
        part = connection.recv(1000)
        assert part
        answer += part
    return answer.startswith(b"HTTP/1.1 200")


def closed(connection: Any) -> bool:
    """Wait until the server ends the connection."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("start", [b"", b"GET", GOOD, GOOD + b"\r\n" + GOOD])
def test_a_head_has_its_time(connect: Any, start: Any) -> None:
    connection = connect(HEAD_SECONDS=0.3)
    connection.sendall(start)
    assert closed(connection)


def test_a_request_may_take_longer_than_a_head(connect: Any) -> None:
    connection = connect(HEAD_SECONDS=0.3)
    assert answered(connection)
    time.sleep(0.5)
    assert answered(connection)


def test_a_client_that_reads_nothing_is_let_go(connect: Any) -> None:
    connection = connect(STALLED_SECONDS=0.3)
    connection.sendall(b"GET /100000000 HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(1)
    received = 0
    try:
        while part := connection.recv(1 << 20):
            received += len(part)
    except ConnectionError:
        pass
    assert received < 100_000_000


def test_the_connection_that_has_been_idle_for_longest_makes_room(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "most_connections", lambda: 3)
    idle = [connect() for _ in range(3)]
    time.sleep(0.3)
    assert answered(idle[0])
    new = connect()
    assert answered(new)
    assert closed(idle[1])
    assert answered(idle[0])


def test_nothing_is_read_for_a_client_that_has_left_before_its_turn(connect: Any) -> None:
    """Where the system says so (Linux); what it asked to change is changed everywhere."""
    holding, first, second = connect(), connect(), connect()
    ASKED.clear()
    holding.sendall(GOOD.replace(b"/", b"/?hold", 1) + b"\r\n")
    while not ASKED:
        time.sleep(0.01)
    first.sendall(GOOD + b"\r\n")
    second.sendall(GOOD.replace(b"GET", b"POST") + b"Content-Length: 0\r\n\r\n")
    first.close()
    second.close()
    assert answered(connect())
    assert ["GET", *([] if hasattr(select, "POLLRDHUP") else ["GET"]), "POST", "GET"] == ASKED
