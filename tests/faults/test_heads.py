"""Requests whose address or headers do not end, and long ones that may be as long as they are."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.http.protocol import LONGEST_HEAD

GOOD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def connect(server: Any) -> Iterator[Any]:
    """Returns connect() -> a connection to a server that looks after nothing."""
    server.start()
    opened = []

    def begin() -> Any:
        opened.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
        return opened[-1]

    yield begin
    for connection in opened:
        connection.close()


def read_answer(connection: Any) -> Any:
    """All that the server sends until it ends the connection."""
    content = b""
    try:
        while piece := connection.recv(1 << 16):
            content += piece
    except ConnectionError:  # it ended while we were still talking
        pass
    return content


def hears(connection: Any, start: Any, piece: Any, most: int = 256) -> bool:
    """Say ``start``, then ``piece`` over and over; whether the server hears all of it."""
    try:
        connection.sendall(start)
        for _ in range(most):
            connection.sendall(piece)
    except ConnectionError:
        return False
    return True


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET /", b"x" * (1 << 20)),
        (GOOD + b"X-Long: ", b"x" * (1 << 20)),
        (GOOD + b"X", b"x" * (1 << 20)),
        (GOOD, b"X-Many: 1\r\n" * 100_000),
    ],
    ids=["address", "value", "name", "many"],
)
def test_a_head_without_an_end_is_not_held(server: Any, connect: Any, start: Any, piece: Any) -> None:
    before = server.memory()
    connection = connect()
    assert not hears(connection, start, piece)
    answer = read_answer(connection)
    assert not answer or answer.startswith(b"HTTP/1.1 400")
    assert server.memory() - before < 64 << 20
    assert server.get("health")


def test_a_head_of_many_cookies_is_answered(connect: Any) -> None:
    connection = connect()
    connection.sendall(GOOD + b"Connection: close\r\nCookie: ")
    for _ in range(30):
        connection.sendall(b"name=" + b"v" * 1000 + b"; ")
    connection.sendall(b"last=1\r\n\r\n")
    assert read_answer(connection).startswith(b"HTTP/1.1 200")


def test_a_long_body_is_no_head(connect: Any) -> None:
    body = b"x" * (4 * LONGEST_HEAD)
    connection = connect()
    connection.sendall(
        b"POST /v2/runs/compare HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    connection.sendall(body + GOOD + b"Connection: ")
    connection.sendall(b"close\r\n\r\n")
    answer = read_answer(connection)
    assert b"too long" not in answer
    assert answer.count(b"HTTP/1.1 ") == 2
    assert b"HTTP/1.1 200" in answer
