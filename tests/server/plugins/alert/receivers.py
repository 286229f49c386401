"""Receivers of webhooks over real sockets: one that takes what is posted, and those that behave badly."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """A server that keeps what is posted, and answers as it is told."""

    def __init__(self) -> None:
        receiver = self
        self.bodies: list[Any] = []
        self.answer: tuple[int, bytes] = (200, b"ok")

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(json.loads(self.rfile.read(length)))
                status, body = receiver.answer
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{receiver.url}elsewhere")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                receiver.bodies.append(self.path)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def steps(self) -> list[int]:
        """The steps of all alerts that were posted, in the order in which they came."""
        return [alert["step"] for body in self.bodies for alert in reversed(body["alerts"])]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.thread.join()
    receiver.server.server_close()


@contextmanager
def answering(speak: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[float]]]:
    """A server of TCP that calls ``speak`` with each connection; its URL, and when it was connected to."""
    times: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    times.append(time.monotonic())
                    threading.Thread(target=_spoken, args=(connection, speak), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", times
        listening.shutdown(socket.SHUT_RDWR)


def _spoken(connection: socket.socket, speak: Callable[[socket.socket], None]) -> None:
    with connection, suppress(OSError):
        connection.settimeout(10)
        _read_request(connection)
        speak(connection)


def _read_request(connection: socket.socket) -> None:
    """Read a whole request: a connection that is closed before is reset, whatever was answered."""
    if connection.recv(1, socket.MSG_PEEK) == b"\x16":  # a handshake of TLS has no lines
        return
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        stream.read(length)


def garbage(connection: socket.socket) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def drip_head(connection: socket.socket) -> None:
    """One byte each 50 ms of a head that never ends."""
    _drip(connection, b"HTTP/1.1 200 OK\r\nX-Filler: ")


def drip_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
    _drip(connection, b"{")


def _drip(connection: socket.socket, beginning: bytes) -> None:
    for number in range(400):
        connection.sendall(beginning[number : number + 1] or b"a")
        time.sleep(0.05)


def silence(connection: socket.socket) -> None:
    """Say nothing until the client leaves."""
    connection.recv(1)


def hang_up(connection: socket.socket) -> None:
    """Close at once."""


def endless_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n")


def nested(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60_000)


def cut_chunks(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
