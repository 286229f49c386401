"""Routes of a dumped tensor's values: a window of a slice, notable elements, histogram and heat map."""

# without `from __future__ import annotations`, because FastAPI reads the annotations of nested functions

import re
from collections.abc import Callable
from typing import Annotated, Final, NamedTuple

from fastapi import APIRouter, Depends, Query, Response

from mindinsight.server.compute.slices import Table, first_slice
from mindinsight.server.compute.tensor_statistics import Array, measure, measure_values
from mindinsight.server.debug.tensor_pictures import bin_values, find_elements, shrink_rows
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.lazy_array import Held, Values, write_npy
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import Accept, Dims, DumpRoute, stream, table_of
from mindinsight.server.http.responses import answer, attachment, browser_values
from mindinsight.server.plugins.dump.dump_requests import Tensor, unreadable_error

Bins = Annotated[int, Query(ge=2, le=400)]
WINDOW: Final = 200  # rows and columns of a table in one response
PICTURE: Final = 256  # rows and columns of a heat map


def check_numbers(values: Values) -> Values:
    """Return the values, after checking that they are numbers. Raises ApiError for text and other non-numeric
    types."""
    if values.dtype.kind not in "biufc":
        raise ApiError(422, "no_numbers", f"A tensor of {values.dtype} cannot be shown.")
    return values


def window_answer(values: Values, dtype: str, dims: str | None, top: int, left: int, accept: str) -> Response:
    """Return a window of a slice, 200 x 200 at most, row by row, with the shape of the slice and the
    extremes of the window. Raises ApiError for an invalid slice. Without `dims` the slice is the last two
    axes, at index 0 of all others. Only the window is read, if the file allows it."""
    dims = dims or first_slice(values.shape)
    table = table_of(values.shape, dims)
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
        **browser_values(array),
    }
    return answer(content, accept)


def histogram_answer(values: Values, bins: int, accept: str) -> Response:
    """Return the histogram of the finite elements between their extremes, of complex numbers by magnitude.
    Raises ApiError for a tensor that cannot be read. Without a finite element, the numbers of all elements
    and of NaN are returned as well."""
    try:
        counts, edges = bin_values(values, bins)
        statistics = None if counts.any() else measure_values(values)
    except UnreadableError as error:
        raise unreadable_error(error) from None
    empty = {"elements": statistics.count, "nans": statistics.nans} if statistics else {}
    return answer({"counts": counts, "edges": edges, **empty}, accept)


def heat_map_answer(values: Values, dims: str | None, accept: str) -> Response:
    """Return a heat map of a slice of at most two axes: up to 256 x 256 cells, each the element farthest
    from zero. Raises ApiError for an invalid slice. Without `dims` the slice is the last two axes, at
    index 0 of all others."""
    dims = dims or first_slice(values.shape)
    table = table_of(values.shape, dims)
    picture = shrink_rows(
        lambda start, stop: _read_window(values, table, slice(start, stop), slice(None)), table.rows, PICTURE
    )
    content = {"dims": dims, "rows": table.rows, "columns": table.columns, "window": list(picture.shape)}
    return answer({**content, "values": picture.ravel()}, accept)


class NamedValues(NamedTuple):
    """Values of a tensor, with their recorded type ("" for that of the array) and the name of a download."""

    values: Values
    dtype: str
    file: str


def _read_window(values: Values, table: Table, rows: slice, columns: slice) -> Array:
    """Read a window of a table as a two-dimensional array."""
    index = table.window(rows, columns)
    return _read_part(values, index).reshape(table.shape_of(index))


def _read_part(values: Values, index: tuple[slice | int, ...]) -> Array:
    try:
        return values.part(index)
    except UnreadableError as error:
        raise unreadable_error(error) from None


def add_value_routes(router: APIRouter, prefix: str, source: Callable[..., NamedValues]) -> None:
    """Add routes below `prefix` for the values that the FastAPI dependency `source` returns. They are
    values, elements, histogram, heatmap and download."""
    requested = Annotated[NamedValues, Depends(source)]

    @router.get(f"{prefix}/values")
    def window(
        tensor: requested,
        dims: Dims = None,
        top: Annotated[int, Query(ge=0, description="first row of the window")] = 0,
        left: Annotated[int, Query(ge=0, description="first column of the window")] = 0,
        accept: Accept = "",
    ) -> Response:
        """Return a window of a slice, row by row, with the shape of the slice and the window's extremes."""
        return window_answer(tensor.values, tensor.dtype, dims, top, left, accept)

    @router.get(f"{prefix}/elements")
    def elements(tensor: requested) -> dict[str, list[int]]:
        """Return the index of the first minimum, maximum, NaN, Inf and -Inf; absent if there is none."""
        try:
            return find_elements(tensor.values)
        except UnreadableError as error:
            raise unreadable_error(error) from None

    @router.get(f"{prefix}/histogram")
    def histogram(tensor: requested, bins: Bins = 80, accept: Accept = "") -> Response:
        """Return the histogram of the finite elements between their extremes. Complex numbers are counted
        by magnitude."""
        return histogram_answer(tensor.values, bins, accept)

    @router.get(f"{prefix}/heatmap")
    def heatmap(tensor: requested, dims: Dims = None, accept: Accept = "") -> Response:
        """Return a heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from
        zero.
        """
        return heat_map_answer(tensor.values, dims, accept)

    @router.get(f"{prefix}/download", response_class=Response)
    def download(tensor: requested, dims: Dims = None) -> Response:
        """Download the tensor, or a slice of it, as npy in its own type, streamed while it is read."""
        values = tensor.values
        if dims is not None:
            values = Held(_read_part(values, table_of(values.shape, dims).index))
        return stream(write_npy(values), attachment(re.sub(r"[^\w.-]+", "_", tensor.file)))


def values_of(tensor: Tensor) -> NamedValues:
    """Return the values of a dumped tensor. FastAPI dependency. Raises ApiError if the dump holds none, or
    they are unreadable or not numbers."""
    if tensor.ref is None:
        raise ApiError(404, "only_statistics", "The dump holds only statistics of this tensor.")
    try:
        values = check_numbers(tensor_values(tensor.ref))
    except UnreadableError as error:
        raise unreadable_error(error) from None
    name = f"{tensor.recorded}.{tensor.step}.{tensor.direction}.{tensor.slot}.npy"
    return NamedValues(values, tensor.dtype, name)


router = APIRouter(route_class=DumpRoute)
add_value_routes(router, "", values_of)
