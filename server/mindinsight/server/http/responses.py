"""Responses with columns: raw bytes for our pages, base64 in JSON for scripts."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mindinsight.server.compute.json_values import non_finite_as_null
from mindinsight.server.store.array_block import ALIGNMENT, ArrayBlock, little_endian

if TYPE_CHECKING:
    from mindinsight.server.store.series import ReferenceSeries

_EXACT: Final = 2**53  # all integers up to this are exact in float64


class Column(TypedDict):
    """Array as JSON: type and base64 of its bytes. `bdata` is base64 of little-endian numbers of
    type `dtype`."""

    dtype: str  # f8, f4, i8, i4, i2, i1, u8, u4, u2, u1
    bdata: str


def encode(array: npt.NDArray[Any]) -> Column:
    """Return a one-dimensional array as a `Column`. 64-bit integers become f8, which Plotly accepts, if every
    one is exact in it."""
    little = _plain(array)
    return {"dtype": little.dtype.str[1:], "bdata": base64.b64encode(little.tobytes()).decode("ascii")}


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert an array to little-endian, contiguous memory of a type that JavaScript has."""
    if array.dtype in (np.int64, np.uint64):
        array = array.astype(np.float64) if _is_exact(array) else array
    elif array.dtype == np.bool_:
        array = array.astype(np.uint8)
    return little_endian(array)


def _is_exact(integers: npt.NDArray[Any]) -> bool:
    """Return True if every integer is exact in float64."""
    return not integers.size or (int(integers.min()) >= -_EXACT and int(integers.max()) <= _EXACT)


def decode(column: Column) -> npt.NDArray[Any]:
    """Return the array that `encode` encoded as ``column``. int64 becomes float64 if that was exact."""
    return np.frombuffer(base64.b64decode(column["bdata"]), dtype="<" + column["dtype"])


def pack(answer: Any) -> bytes:
    """Pack a response as a u32 length, a JSON head of that length padded to 8, and its arrays. In the head
    an array is `{"dtype", "at", "length"}`, with `at` in bytes from the first array, or `{"start",
    "stride", "length"}` for an arithmetic sequence, which steps almost always are."""
    parts: list[bytes | memoryview] = []
    block = ArrayBlock(parts.append)

    def position(array: npt.NDArray[Any]) -> dict[str, Any]:
        return _sequence(array) or block.append(_plain(array))._asdict()

    head = json.dumps(_replace(answer, position), allow_nan=False, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % ALIGNMENT)
    return b"".join((len(head).to_bytes(4, "little"), head, *parts))


def as_json(answer: Any) -> Any:
    """Return a response with every array replaced by a `Column`."""
    return _replace(answer, encode)


def _replace(answer: Any, encode_array: Callable[[npt.NDArray[Any]], Any]) -> Any:
    if isinstance(answer, np.ndarray):
        return encode_array(answer)
    if isinstance(answer, dict):
        return {key: _replace(value, encode_array) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [_replace(value, encode_array) for value in answer]
    return answer


def _sequence(array: npt.NDArray[Any]) -> dict[str, Any] | None:
    if array.dtype.kind not in "iu" or len(array) < 3:
        return None
    start, stride = int(array[0]), int(array[1]) - int(array[0])
    gaps = array[1:] - array[:-1]  # may overflow, so that equal gaps alone prove nothing
    if int(array[-1]) != start + stride * (len(array) - 1) or not (gaps == gaps[0]).all():
        return None
    return {"start": start, "stride": stride, "length": len(array)}


COLUMNS: Final = "application/vnd.mindinsight.columns"
_CHUNK: Final = 1 << 16  # bytes sent at once


def attachment(name: str) -> dict[str, str]:
    """Return the header of a download with this file name."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def steps_answer(run: str, series: ReferenceSeries, accept: str, **more: Any) -> Response:
    """Return the response with steps and times of all payloads of a series, and the fields `more`. The
    payloads are in the order written."""
    head = {"run": run, "tag": series.tag, "step": series.steps, "wall": series.walls}
    return answer({**head, **more}, accept)


def browser_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a flat array in a type that JavaScript has: half precision and 64-bit integers become
    float64.
    """
    flat = np.ascontiguousarray(array).ravel()
    return flat.astype(np.float64) if flat.dtype.kind in "fiu" and flat.dtype != np.float32 else flat


def browser_values(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the elements of an array as fields of a response: `values`, and `imaginary` of complex ones.
    `exact` holds integers as texts if a double cannot hold all of them."""
    if array.dtype.kind == "c":
        return {"values": browser_array(array.real), "imaginary": browser_array(array.imag)}
    exact = array.dtype.kind not in "iu" or _is_exact(array)
    return {"values": browser_array(array)} | (
        {} if exact else {"exact": [*map(str, array.ravel().tolist())]}
    )


def answer(content: Any, accept: str) -> Response:
    """Return a response with a JSON value that contains arrays, in the form of the `Accept` header."""
    return encoded_response(encoded(content, accept), accept)


def encoded(content: Any, accept: str) -> bytes:
    """Return `content` as packed columns if `accept` names them, else as JSON."""
    if COLUMNS in accept:
        return pack(content)
    text = json.dumps(as_json(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def encoded_answers(bodies: Sequence[bytes], accept: str) -> bytes:
    """Join bodies that `encoded` returned for the same `accept` into the body of `{"answers": [...]}`. In
    columns each body is an array of bytes, with its own head and arrays."""
    if COLUMNS in accept:
        return pack({"answers": [np.frombuffer(body, np.uint8) for body in bodies]})
    return b'{"answers":[' + b",".join(bodies) + b"]}"


def encoded_response(body: bytes, accept: str) -> Response:
    """Return a response with a body made by `encoded` for the same `accept`."""
    if COLUMNS in accept:
        # Columns of sampled curves hardly shrink, so that compressing them is not worth its time.
        return Response(body, media_type=COLUMNS, headers={"Content-Encoding": "identity"})
    return Response(body, media_type="application/json")


def json_response(content: Any, status: int = 200) -> Response:
    """Return a JSON response, with null for non-finite numbers and escaped lone surrogates."""
    from pydantic_core import PydanticSerializationError, to_json  # loaded with the interfaces

    try:
        body = to_json(content, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeEncodeError):
        from fastapi.encoders import jsonable_encoder

        plain = non_finite_as_null(jsonable_encoder(content))
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        body = text.encode("utf-8", "backslashreplace")
    return Response(body, status, media_type="application/json")


class PartsResponse(Response):
    """Response that is sent in chunks of 64 KiB, so that a slow client holds a chunk, not the whole body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        body = bytes(self.body)
        for offset in range(0, max(1, len(body)), _CHUNK):
            more = offset + _CHUNK < len(body)
            part = body[offset : offset + _CHUNK]
            await send({"type": "http.response.body", "body": part, "more_body": more})
