"""One tensor looked into: a window of a slice, its histogram, its heat map, and the whole as npy."""

from __future__ import annotations

import io
import re
from typing import Annotated, Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Header, Query, Response

from mindinsight.server.answers import answer
from mindinsight.server.debug.pictures import binned, shrunk
from mindinsight.server.debug.statistics import Array, measure
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import read_tensor
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.plugins.dump.reach import Tensor, unreadable
from mindinsight.server.slices import first_slice, parse_slice

router = APIRouter()

Accept = Annotated[str, Header()]
Dims = Annotated[
    str | None, Query(description="[0,:,1:3]: an integer or slice for each axis, two slices at most")
]

WINDOW: Final = 200  # rows and columns of a table sent at once
PICTURE: Final = 256  # rows and columns of a heat map


@router.get("/values")
def window(
    tensor: Tensor,
    dims: Dims = None,
    top: Annotated[int, Query(ge=0, description="first row of the window")] = 0,
    left: Annotated[int, Query(ge=0, description="first column of the window")] = 0,
    accept: Accept = "",
) -> Response:
    """A window of a slice, row by row, with the shape of the slice and its extremes."""
    values = _read(tensor)
    index = dims or first_slice(values.shape)
    table = _as_table(_sliced(values, index))
    part = table[top : top + WINDOW, left : left + WINDOW]
    found = measure(part)
    content = {
        "shape": list(values.shape),
        "dtype": tensor.dtype or values.dtype.name,
        "dims": index,
        "rows": table.shape[0],
        "columns": table.shape[1],
        "top": top,
        "left": left,
        "window": list(part.shape),
        "minimum": found.minimum,
        "maximum": found.maximum,
        "values": _sendable(part),
    }
    if values.dtype.kind == "c":
        content |= {"values": _sendable(part.real), "imaginary": _sendable(part.imag)}
    return answer(content, accept)


@router.get("/histogram")
def histogram(
    tensor: Tensor, bins: Annotated[int, Query(ge=2, le=400)] = 80, accept: Accept = ""
) -> Response:
    """How the finite elements are spread between their extremes; complex numbers by magnitude."""
    counts, edges = binned(_read(tensor), bins)
    return answer({"counts": counts, "edges": edges}, accept)


@router.get("/heatmap")
def heatmap(tensor: Tensor, dims: Dims = None, accept: Accept = "") -> Response:
    """A slice of at most two axes, shrunk to 256 x 256 by keeping the element farthest from zero."""
    values = _read(tensor)
    index = dims or first_slice(values.shape)
    table = _as_table(_sliced(values, index))
    picture = shrunk(table, PICTURE)
    content = {
        "dims": index,
        "rows": table.shape[0],
        "columns": table.shape[1],
        "window": list(picture.shape),
    }
    return answer({**content, "values": picture.ravel()}, accept)


@router.get("/download", response_class=Response)
def download(tensor: Tensor, dims: Dims = None) -> Response:
    """The tensor, or a slice of it, as npy with its own type."""
    values = _read(tensor)
    sink = io.BytesIO()
    np.save(sink, np.asarray(values if dims is None else _sliced(values, dims)), allow_pickle=False)
    name = re.sub(r"[^\w.-]+", "_", f"{tensor.recorded}.{tensor.step}.{tensor.direction}.{tensor.slot}.npy")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(sink.getvalue(), media_type="application/octet-stream", headers=headers)


def _read(tensor: TensorEntry) -> Array:
    if tensor.ref is None:
        raise ApiError(404, "only_statistics", "The dump holds only statistics of this tensor.")
    try:
        values = read_tensor(tensor.ref)
    except UnreadableError as error:
        raise unreadable(error) from None
    if values.dtype.kind not in "biufc":
        raise ApiError(422, "no_numbers", f"A tensor of {values.dtype} cannot be shown.")
    return values


def _sliced(values: Array, dims: str) -> Array:
    try:
        return np.asarray(values[parse_slice(dims, values.shape)])
    except ValueError as error:
        raise ApiError(422, "bad_slice", f"The slice {error}.", why=str(error)) from None


def _as_table(values: Array) -> Array:
    """Two axes of whatever has at most two: a row of its own for each element of one axis."""
    return values if values.ndim == 2 else values.reshape(-1, 1)


def _sendable(part: Array) -> npt.NDArray[Any]:
    """In a type that a browser has: half precision and 64-bit integers as float64."""
    flat = np.ascontiguousarray(part).ravel()
    return flat.astype(np.float64) if flat.dtype.kind in "fiu" and flat.dtype != np.float32 else flat
