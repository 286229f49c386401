"""Encoder of arrays in responses: base64 in JSON for scripts, raw bytes behind a JSON head for our pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final, TypedDict

import numpy as np
import numpy.typing as npt

from mindinsight.server.store.array_block import ALIGNMENT, ArrayBlock, little_endian

_EXACT: Final = 2**53  # integers up to here are float64s


class Column(TypedDict):
    """``bdata`` is base64 of little-endian numbers of type ``dtype``."""

    dtype: str  # f8, f4, i8, i4, i2, i1, u8, u4, u2, u1
    bdata: str


def encode(array: npt.NDArray[Any]) -> Column:
    """Encode a one-dimensional array; integers of 64 bits as f8, which Plotly takes, where that is exact."""
    little = _plain(array)
    return {"dtype": little.dtype.str[1:], "bdata": base64.b64encode(little.tobytes()).decode("ascii")}


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Little-endian, contiguous, and of a type that a browser has."""
    if array.dtype in (np.int64, np.uint64):
        array = array.astype(np.float64) if _is_exact(array) else array
    elif array.dtype == np.bool_:
        array = array.astype(np.uint8)
    return little_endian(array)


def _is_exact(integers: npt.NDArray[Any]) -> bool:
    """Whether every one of the integers is a float64: up to 2**53 all are."""
    return not len(integers) or (int(integers.min()) >= -_EXACT and int(integers.max()) <= _EXACT)


def decode(column: Column) -> npt.NDArray[Any]:
    """The array that ``encode`` was given (int64 comes back as float64 where that is exact)."""
    return np.frombuffer(base64.b64decode(column["bdata"]), dtype="<" + column["dtype"])


def pack(answer: Any) -> bytes:
    """``answer`` with its arrays behind it: u32 length of a JSON head, the head, padding to 8, the arrays.

    In the head an array is ``{"dtype", "at", "length"}``, ``at`` counted in bytes from the first array,
    or ``{"start", "stride", "length"}`` for an arithmetic sequence (steps almost always are one).
    """
    parts: list[bytes | memoryview] = []
    block = ArrayBlock(parts.append)

    def position(array: npt.NDArray[Any]) -> dict[str, Any]:
        return _sequence(array) or block.append(_plain(array))._asdict()

    head = json.dumps(_replace(answer, position), allow_nan=False, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % ALIGNMENT)
    return b"".join((len(head).to_bytes(4, "little"), head, *parts))


def as_json(answer: Any) -> Any:
    """``answer`` with every array in it as a ``Column``."""
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
    gaps = array[1:] - array[:-1]  # of a type that may be too narrow for them: equal ones need not be right
    if int(array[-1]) != start + stride * (len(array) - 1) or not (gaps == gaps[0]).all():
        return None
    return {"start": start, "stride": stride, "length": len(array)}
