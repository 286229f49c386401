"""Requests whose address or headers do not end, and long ones that may be as long as they are."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.http.protocol import LONGEST_HEAD

from .conftest import Base, Server

GOOD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One server for all tests: none of them may leave anything behind that disturbs another."""
    folder = tmp_path_factory.mktemp("heads")
    server = Server(Base(folder / "base").path, folder / "workspace").start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def memory(server: Any) -> int:
    """Bytes before any of the tests that measure it: what one of them keeps counts for the next."""
    assert server.get("v2/openapi.json")  # what this loads counts once
    return int(server.memory())


@pytest.fixture
def connect(server: Any) -> Iterator[Any]:
    """Returns connect() -> a connection to a server that looks after nothing."""
    opened = []

    def begin() -> Any:
        opened.append(socket.create_connection(("127.0.0.1", server.port), timeout=240))
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
def test_a_head_without_an_end_is_not_held(
    server: Any, memory: int, connect: Any, start: Any, piece: Any
) -> None:
    connection = connect()
    assert not hears(connection, start, piece)
    answer = read_answer(connection)
    assert not answer or answer.startswith(b"HTTP/1.1 400")
    assert server.memory() - memory < 64 << 20
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


CLOSE = b"Host: 127.0.0.1\r\nConnection: close\r\n"
POST = b"POST /v2/scalar/tails HTTP/1.1\r\n" + CLOSE
ODD = {  # what is sent, and the status that comes back
    "websocket": (b"GET /health HTTP/1.1\r\n" + CLOSE + b"Upgrade: websocket\r\n\r\n", b"200"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"400"),
    "two lengths": (POST + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n12345", b"400"),
    "length and pieces": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
    "no size of a piece": (POST + b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\nabc", b"400"),
    "line ends of Unix": (b"GET /health HTTP/1.1\nHost: 127.0.0.1\n\n", b"400"),
    "a tunnel": (b"CONNECT other:443 HTTP/1.1\r\n" + CLOSE + b"\r\n", b"400"),
    "no host": (b"GET / HTTP/1.0\r\n\r\n", b"421"),
    "half a body": (b"GET /v2/runs HTTP/1.1\r\n" + CLOSE + b"Content-Length: 300\r\n\r\nabc", b"200"),
    "ranges": (
        b"GET /v2/runs HTTP/1.1\r\n" + CLOSE + b"Range: bytes=abc-,5-2,-,99999999999999999999-\r\n\r\n",
        b"200",
    ),
    "only the head": (b"HEAD /v2/runs HTTP/1.1\r\n" + CLOSE + b"\r\n", b"405"),
}


@pytest.mark.timeout(300)
def test_odd_requests_are_answered_and_hold_no_connection(server: Any, connect: Any) -> None:
    answers = {}
    for name, (request, _) in ODD.items():
        connection = connect()
        connection.sendall(request)
        answers[name] = read_answer(connection)[9:12]
    assert answers == {name: status for name, (_, status) in ODD.items()}
    assert server.get("health")


def test_many_requests_at_once_on_one_connection_are_answered_in_turn(connect: Any) -> None:
    connection = connect()
    paths = [b"/health", b"/v2/runs", b"/metrics", b"/nothing"]
    requests = [b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n" % paths[number % 4] for number in range(200)]
    connection.sendall(b"\r\n".join([*requests, b"GET /health HTTP/1.1\r\n" + CLOSE + b"\r\n"]))
    answer = read_answer(connection)
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"200", b"404"] * 50 + [b"200"]


@pytest.mark.parametrize("connections", [1, 20])
def test_who_asks_without_reading_takes_no_memory(
    server: Any, memory: int, connect: Any, connections: int
) -> None:
    """Of some 10,000 requests that are sent at once, about 60 are parsed; the rest stays as bytes."""
    for connection in [connect() for _ in range(connections)]:
        connection.settimeout(0.5)
        with pytest.raises(OSError):  # nothing more is taken, or the connection is ended
            while True:
                connection.sendall(b"GET /v2/openapi.json HTTP/1.1\r\nHost: 1\r\n\r\n" * 1000)
    assert server.get("health")
    assert server.memory() - memory < 64 << 20


def test_requests_around_a_long_body_are_answered_in_turn(connect: Any) -> None:
    """Pieces end in the middle of heads and bodies."""
    body = b"x" * 5000
    post = b"POST /v2/runs/compare HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\n" + body
    connection = connect()
    connection.sendall((post + GOOD + b"\r\n") * 30 + b"GET /health HTTP/1.1\r\n" + CLOSE + b"\r\n")
    statuses = [part[:3] for part in read_answer(connection).split(b"HTTP/1.1 ")[1:]]
    assert len(statuses) == 61
    assert set(statuses[1::2]) == {b"200"}
    assert len(set(statuses[:60:2])) == 1
