"""Responses with columns: raw bytes for our pages, JSON for scripts, with the same content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mindinsight.server.compute.non_finite import non_finite_as_null

COLUMNS: Final = "application/vnd.mindinsight.columns"
_PART: Final = 1 << 16  # bytes


def answer(content: Any, accept: str) -> Response:
    """``content``, a JSON value with arrays in it, in the form that the ``Accept`` header asks for."""
    return encoded_response(encoded(content, accept), accept)


def encoded(content: Any, accept: str) -> bytes:
    """The body of ``answer``."""
    from mindinsight.server.http.column_encoding import as_json, pack  # loads NumPy

    if COLUMNS in accept:
        return pack(content)
    text = json.dumps(as_json(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def encoded_answers(bodies: Sequence[bytes], accept: str) -> bytes:
    """The body of ``{"answers": [...]}`` of what ``encoded`` made for the same ``Accept`` header.

    In columns each answer is one of bytes, with its own head and columns in it.
    """
    if COLUMNS in accept:
        import numpy as np

        from mindinsight.server.http.column_encoding import pack

        return pack({"answers": [np.frombuffer(body, np.uint8) for body in bodies]})
    return b'{"answers":[' + b",".join(bodies) + b"]}"


def encoded_response(body: bytes, accept: str) -> Response:
    """A response with what ``encoded`` made for the same ``Accept`` header."""
    if COLUMNS in accept:
        # Columns of sampled curves do not shrink enough to be worth another pass by the compressor.
        return Response(body, media_type=COLUMNS, headers={"Content-Encoding": "identity"})
    return Response(body, media_type="application/json")


def json_response(content: Any, status: int = 200) -> Response:
    """``content`` as JSON: what is not finite as null, lone surrogates as they are escaped in JSON."""
    from pydantic_core import PydanticSerializationError, to_json  # loaded with the interfaces

    try:
        body = to_json(content, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeEncodeError):
        from fastapi.encoders import jsonable_encoder

        text = json.dumps(
            non_finite_as_null(jsonable_encoder(content)), ensure_ascii=False, separators=(",", ":")
        )
        body = text.encode("utf-8", "backslashreplace")
    return Response(body, status, media_type="application/json")


class PartsResponse(Response):
    """Bytes that are sent in parts of 64 KiB: each client that reads slowly costs a part, not the whole."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        body = bytes(self.body)
        for offset in range(0, max(1, len(body)), _PART):
            more = offset + _PART < len(body)
            part = body[offset : offset + _PART]
            await send({"type": "http.response.body", "body": part, "more_body": more})
