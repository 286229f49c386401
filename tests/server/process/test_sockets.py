"""The socket that a server listens on."""

from __future__ import annotations

import socket
from pathlib import Path

from mindinsight.server.process.sockets import listen
from mindinsight.server.settings import Settings


def test_answers_are_sent_without_waiting_for_acknowledgements(tmp_path: Path) -> None:
    settings = Settings(summary_base_dir=tmp_path, workspace=tmp_path, port=0)
    with listen(settings) as sock, socket.create_connection(sock.getsockname()):
        accepted, _ = sock.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
