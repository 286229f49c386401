"""Routes of one tensor of a checkpoint: a window of its values, histogram, heat map, and npy."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from mindinsight.server.cancellation import result_of
from mindinsight.server.debug.checkpoints.weights import locate_values
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.bulkhead_routes import CheckpointRoute
from mindinsight.server.plugins.dump.checkpoints import FileId, checkpoint_error, checkpoint_path
from mindinsight.server.plugins.dump.dependencies import Uses
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

router = APIRouter(route_class=CheckpointRoute)


def values_of(
    service: Uses, file: FileId, name: Annotated[str, Query(description="name of the tensor")]
) -> Values:
    """Dependency: the values of the tensor that ``file`` and ``name`` name.

    The file is opened in a worker process, and only where its values lie comes back.
    """
    path = checkpoint_path(service, file)
    try:
        return check_numbers(result_of(service.openers.submit(locate_values, path, name)))
    except UnreadableError as error:
        raise checkpoint_error(error, file) from None
    except KeyError:
        raise ApiError(404, "unknown_weight", f"There is no tensor {name!r}.", name=name) from None


WeightValues = Annotated[Values, Depends(values_of)]


@router.get("/checkpoint/values")
def window(
    values: WeightValues, dims: Dims = None, top: Top = 0, left: Left = 0, accept: Accept = ""
) -> Response:
    """A window of a slice, row by row, with the shape of the slice and the extremes of the window."""
    return window_answer(values, "", dims, top, left, accept)


@router.get("/checkpoint/histogram")
def histogram(values: WeightValues, bins: Bins = 80, accept: Accept = "") -> Response:
    """Histogram of the finite elements between their extremes; complex numbers by magnitude."""
    return histogram_answer(values, bins, accept)


@router.get("/checkpoint/heatmap")
def heatmap(values: WeightValues, dims: Dims = None, accept: Accept = "") -> Response:
    """Heat map of a slice of at most two axes: 256 x 256 cells, each the element farthest from zero."""
    return heat_map_answer(values, dims, accept)


@router.get("/checkpoint/download", response_class=Response)
def download(values: WeightValues, name: str, dims: Dims = None) -> Response:
    """Download the tensor, or a slice of it, as npy in its own type; streamed while it is read."""
    return npy_download(values, re.sub(r"[^\w.-]+", "_", name) + ".npy", dims)
