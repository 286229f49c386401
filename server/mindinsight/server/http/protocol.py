"""HTTP on a connection: uvicorn's fast parser, which by itself would hold a head of any length."""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD: Final = 1 << 16  # bytes of address and headers; they are held before anybody has shown a token


class Protocol(HttpToolsProtocol):
    """Refuses a request whose head does not end."""

    _ended = True  # whether the head of the last request is whole
    _received = 0  # bytes in what came after the piece in which that request began

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if not self._ended and self._received > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._ended, self._received = False, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._ended = True
        super().on_headers_complete()
