"""Routes of a dumped tensor's values: a window of a slice, histogram and heat map."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Header, Query, Response

from mindinsight.server.compute.slices import Table, first_slice, parse_slice
from mindinsight.server.compute.tensor_statistics import Array, measure
from mindinsight.server.debug.tensor_pictures import bin_values, shrink_rows
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.lazy_array import Held, Values, write_npy
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import DumpRoute, stream
from mindinsight.server.http.responses import answer
from mindinsight.server.plugins.dump.dump_requests import Tensor, unreadable_error

Accept = Annotated[str, Header()]
Bins = Annotated[int, Query(ge=2, le=400)]
Dims = Annotated[
    str | None, Query(description="[0,:,1:3]: an integer or slice for each axis, two slices at most")
]
Top = Annotated[int, Query(ge=0, description="first row of the window")]
Left = Annotated[int, Query(ge=0, description="first column of the window")]

WINDOW: Final = 200  # rows and columns of a table in one response
PICTURE: Final = 256  # rows and columns of a heat map


def check_numbers(values: Values) -> Values:
    """Return the values. Raises ApiError for text and other non-numeric types."""
    if values.dtype.kind not in "biufc":
        raise ApiError(422, "no_numbers", f"A tensor of {values.dtype} cannot be shown.")
    return values


def window_answer(values: Values, dtype: str, dims: str | None, top: int, left: int, accept: str) -> Response:
    """Return a window of a slice, row by row, with the shape of the slice and the extremes of the window.

    Only the window is read, if the file allows it.
    """
    dims = dims or first_slice(values.shape)
    table = slice_table(values.shape, dims)
    array = _read_window(values, table, slice(top, top + WINDOW), slice(left, left + WINDOW))
    extremes = measure(array)
    content = {
        "shape": list(values.shape),
        "dtype": dtype or values.dtype.name,
        "dims": dims,
        "rows": table.rows,
        "columns": table.columns,
        "top": top,
        "left": left,
        "window": list(array.shape),
        "minimum": extremes.minimum,
        "maximum": extremes.maximum,
        "values": browser_array(array),
    }
    if array.dtype.kind == "c":
        content |= {"values": browser_array(array.real), "imaginary": browser_array(array.imag)}
    return answer(content, accept)


def histogram_answer(values: Values, bins: int, accept: str) -> Response:
    """Return the histogram of the finite elements between their extremes, of complex numbers by magnitude."""
    try:
        counts, edges = bin_values(values, bins)
    except UnreadableError as error:
        raise unreadable_error(error) from None
    return answer({"counts": counts, "edges": edges}, accept)


def heat_map_answer(values: Values, dims: str | None, accept: str) -> Response:
    """Return a heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from
    zero.
    """
    dims = dims or first_slice(values.shape)
    table = slice_table(values.shape, dims)
    picture = shrink_rows(
        lambda start, stop: _read_window(values, table, slice(start, stop), slice(None)), table.rows, PICTURE
    )
    content = {"dims": dims, "rows": table.rows, "columns": table.columns, "window": list(picture.shape)}
    return answer({**content, "values": picture.ravel()}, accept)


def npy_download(values: Values, name: str, dims: str | None = None) -> Response:
    """Return a tensor, or a slice of it, as npy in its own type, streamed while it is read."""
    if dims is not None:
        values = Held(_read_part(values, slice_table(values.shape, dims).index))
    return stream(write_npy(values), {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"})


def slice_table(shape: tuple[int, ...], dims: str) -> Table:
    """Return the table view of a slice. Raises ApiError if `dims` is not a slice of this shape."""
    try:
        return Table(shape, parse_slice(dims, shape))
    except ValueError as error:
        raise ApiError(422, "bad_slice", f"The slice {error}.", why=str(error)) from None


def _read_window(values: Values, table: Table, rows: slice, columns: slice) -> Array:
    """Read a window of a table as a two-dimensional array."""
    index = table.window(rows, columns)
    return _read_part(values, index).reshape(table.shape_of(index))


def _read_part(values: Values, index: tuple[slice | int, ...]) -> Array:
    try:
        return values.part(index)
    except UnreadableError as error:
        raise unreadable_error(error) from None


def browser_array(part: Array) -> npt.NDArray[Any]:
    """Return a flat array in a type that JavaScript has: half precision and 64-bit integers become
    float64.
    """
    flat = np.ascontiguousarray(part).ravel()
    return flat.astype(np.float64) if flat.dtype.kind in "fiu" and flat.dtype != np.float32 else flat


router = APIRouter(route_class=DumpRoute)


@router.get("/values")
def window(tensor: Tensor, dims: Dims = None, top: Top = 0, left: Left = 0, accept: Accept = "") -> Response:
    """Return a window of a slice, row by row, with the shape of the slice and the extremes of the window."""
    return window_answer(_open_values(tensor), tensor.dtype, dims, top, left, accept)


@router.get("/histogram")
def histogram(tensor: Tensor, bins: Bins = 80, accept: Accept = "") -> Response:
    """Return the histogram of the finite elements between their extremes, of complex numbers by magnitude."""
    return histogram_answer(_open_values(tensor), bins, accept)


@router.get("/heatmap")
def heatmap(tensor: Tensor, dims: Dims = None, accept: Accept = "") -> Response:
    """Return a heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from
    zero.
    """
    return heat_map_answer(_open_values(tensor), dims, accept)


@router.get("/download", response_class=Response)
def download(tensor: Tensor, dims: Dims = None) -> Response:
    """Download the tensor, or a slice of it, as npy in its own type, streamed while it is read."""
    name = re.sub(r"[^\w.-]+", "_", f"{tensor.recorded}.{tensor.step}.{tensor.direction}.{tensor.slot}.npy")
    return npy_download(_open_values(tensor), name, dims)


def _open_values(tensor: TensorEntry) -> Values:
    if tensor.ref is None:
        raise ApiError(404, "only_statistics", "The dump holds only statistics of this tensor.")
    try:
        values = tensor_values(tensor.ref)
    except UnreadableError as error:
        raise unreadable_error(error) from None
    return check_numbers(values)
