"""Routes of a dumped tensor's values: a window of a slice, histogram, heat map, and download as npy."""

from __future__ import annotations

import re

from fastapi import APIRouter, Response

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.dependencies import Tensor, unreadable_error
from mindinsight.server.plugins.dump.value_windows import (
    Accept,
    Bins,
    Dims,
    Left,
    Top,
    check_numbers,
    heat_map_answer,
    histogram_answer,
    npy_download,
    window_answer,
)

router = APIRouter(route_class=DumpRoute)


@router.get("/values")
def window(tensor: Tensor, dims: Dims = None, top: Top = 0, left: Left = 0, accept: Accept = "") -> Response:
    """A window of a slice, row by row, with the shape of the slice and the extremes of the window."""
    return window_answer(_open_values(tensor), tensor.dtype, dims, top, left, accept)


@router.get("/histogram")
def histogram(tensor: Tensor, bins: Bins = 80, accept: Accept = "") -> Response:
    """Histogram of the finite elements between their extremes; complex numbers by magnitude."""
    return histogram_answer(_open_values(tensor), bins, accept)


@router.get("/heatmap")
def heatmap(tensor: Tensor, dims: Dims = None, accept: Accept = "") -> Response:
    """Heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from zero."""
    return heat_map_answer(_open_values(tensor), dims, accept)


@router.get("/download", response_class=Response)
def download(tensor: Tensor, dims: Dims = None) -> Response:
    """Download the tensor, or a slice of it, as npy in its own type; streamed while it is read."""
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
