"""Routes for tensors: slices of any recorded step, statistics, distribution over steps, downloads."""

import io
import math
import re
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response

from mindinsight.server.compute.slices import Index, Table, first_slice
from mindinsight.server.compute.tensor_statistics import Statistics, bin_edges, combine, measure_values, parts
from mindinsight.server.formats.arrays.lazy_array import npy_header, write_npy
from mindinsight.server.formats.payloads.tensor_payloads import Recorded
from mindinsight.server.http import bulkhead_routes
from mindinsight.server.http.bulkhead_routes import Accept, Dims, PayloadRoute, Row
from mindinsight.server.http.responses import answer, attachment, browser_values, steps_answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.store.tensor_source import opened_tensor

router = APIRouter(route_class=PayloadRoute)

Bins = Annotated[int, Query(ge=2, le=400)]
Tensors = Annotated[ReferenceSeries, bulkhead_routes.payload_series("tensor")]
OneTensor = Annotated[ReferenceSeries, bulkhead_routes.payload_row("tensor", "tensors")]

_WINDOW: Final = 200  # rows and columns of a table in one response, which bounds it to 320 kB
_BLOCK: Final = 1 << 20  # numbers of a slice read at once, 8 MB
_MOST_STEPS: Final = 400  # steps of one distribution, which bounds its time: each tensor is read twice
_NON_FINITE: Final = {
    "nan": "nans",
    "positive_infinity": "positive_infs",
    "negative_infinity": "negative_infs",
}


@router.get("/steps")
def steps(run: str, series: Tensors, accept: Accept = "") -> Response:
    """Return steps and times of all tensors of a tag, in the order written, and shape and type of the
    newest.
    """
    with opened_tensor(series, series.count - 1) as newest:
        first = first_slice(newest.values.shape)
        return steps_answer(run, series, accept, **_described(newest), first=first)


@router.get("/slice")
def part(
    series: OneTensor,
    row: Row,
    dims: Dims = None,
    top: Annotated[int, Query(ge=0, description="first row of the window")] = 0,
    left: Annotated[int, Query(ge=0, description="first column of the window")] = 0,
    accept: Accept = "",
) -> Response:
    """Return a window of a slice, row by row, with statistics of the slice and of the whole tensor. Returns
    422 for an invalid slice."""
    with opened_tensor(series, row) as tensor:
        index = dims or first_slice(tensor.values.shape)
        table = bulkhead_routes.table_of(tensor.values.shape, index)
        window = _read(tensor, table, table.window(slice(top, top + _WINDOW), slice(left, left + _WINDOW)))
        whole = measure_values(tensor.values)
        sliced = (part for block in table.blocks(_BLOCK) for part in parts(_read(tensor, table, block)))
        content = {
            **_described(tensor),
            "dims": index,
            "rows": table.rows,
            "columns": table.columns,
            "top": top,
            "left": left,
            "window": list(window.shape),
            **browser_values(window),
            "slice": _facts(whole if table.whole else combine(sliced)),
            "whole": _facts(whole),
        }
    return answer(content, accept)


@router.get("/distribution")
def distribution(series: Tensors, bins: Bins = 80, accept: Accept = "") -> Response:
    """Return histograms with common edges of at most 400 recorded steps, evenly spaced. `counts` holds
    [steps, bins] numbers. `nan`, `positive_infinity` and `negative_infinity` count the non-finite values
    per step. `count` is the number of all recorded steps."""
    count = min(series.count, _MOST_STEPS)
    rows = np.unique(np.linspace(0, series.count - 1, count).round().astype(np.int64))
    measured = []
    for row in rows.tolist():
        with opened_tensor(series, row) as tensor:
            measured.append(measure_values(tensor.values))
    lows = [facts.minimum for facts in measured if facts.minimum is not None]
    highs = [facts.maximum for facts in measured if facts.maximum is not None]
    low, high = (float(min(lows)), float(max(highs))) if lows else (0.0, 0.0)
    edges = bin_edges(low, high, bins)
    counts = []
    for row in rows.tolist():
        with opened_tensor(series, row) as tensor:
            counts.append(_counts(tensor, edges))
    content = {"step": series.steps[rows], "wall": series.walls[rows], "count": series.count, "edges": edges}
    for name, attribute in _NON_FINITE.items():
        content[name] = np.array([getattr(facts, attribute) for facts in measured], np.int64)
    content |= {"counts": np.concatenate(counts), "facts": [_facts(facts) for facts in measured]}
    return answer(content, accept)


@router.get("/download", response_class=Response)
def download(
    tag: str, series: OneTensor, row: Row, dims: Dims = None, format: Literal["npy", "csv"] = "npy"
) -> Response:
    """Download the tensor, or a slice of it, as npy with its own type, or as CSV, streamed while it is read.
    Returns 422 for an invalid slice."""
    # the first chunk is read before responding, so that errors have a status
    with opened_tensor(series, row) as tensor:
        table = bulkhead_routes.table_of(tensor.values.shape, dims) if dims is not None else None
        rest = iter(_npy(tensor, table) if format == "npy" else _csv(tensor, table))
        first = next(rest, b"")
    name = re.sub(r"[^\w.-]+", "_", f"{tag}_{int(series.steps[row])}.{format}")
    media_type = "text/csv" if format == "csv" else "application/octet-stream"
    return bulkhead_routes.stream(_within(series, row, first, rest), attachment(name), media_type)


def _within(series: ReferenceSeries, row: int, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """Yield all chunks while the file is unchanged. Raises Gone if it was replaced."""
    yield first
    for piece in rest:
        with series.located(row):
            yield piece


def _npy(tensor: Recorded, table: Table | None) -> Iterator[bytes]:
    if table is None:
        return write_npy(tensor.values)
    axes = zip(table.shape, table.index, strict=True)
    shape = tuple(len(range(size)[entry]) for size, entry in axes if isinstance(entry, slice))
    blocks = (_read(tensor, table, index).tobytes() for index in table.blocks(_BLOCK))
    return chain(npy_header(tensor.values.part(table.window(slice(0, 0))).dtype, shape), blocks)


def _csv(tensor: Recorded, table: Table | None) -> Iterator[bytes]:
    """Yield a line for each row. Tensors of more dimensions are written row by row."""
    if table is not None:
        for top in range(0, table.rows, height := max(1, _BLOCK // max(1, table.columns))):
            yield _lines(_read(tensor, table, table.window(slice(top, top + height))))
        return
    shape = tensor.values.shape
    columns = shape[-1] if len(shape) > 1 else 1
    held = np.empty(0)
    for piece in tensor.values.pieces():
        held = np.concatenate([held, piece]) if held.size else piece
        full = held.size // columns * columns if columns else 0
        yield _lines(held[:full].reshape(-1, max(1, columns)))
        held = held[full:]


def _lines(table: npt.NDArray[Any]) -> bytes:
    sink = io.BytesIO()
    np.savetxt(sink, table, delimiter=",", fmt="%s")
    return sink.getvalue()


def _read(tensor: Recorded, table: Table, index: Index) -> npt.NDArray[Any]:
    return np.asarray(tensor.values.part(index)).reshape(table.shape_of(index))


def _counts(tensor: Recorded, edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    counts = np.zeros(len(edges) - 1)
    for piece in tensor.values.pieces():
        values = np.asarray(piece, np.float64)
        counts += np.histogram(values[np.isfinite(values)], bins=edges)[0]
    return counts.astype(np.float32)


def _described(tensor: Recorded) -> dict[str, Any]:
    return {"shape": list(tensor.values.shape), "type": tensor.dtype}


def _facts(statistics: Statistics) -> dict[str, Any]:
    norm = statistics.norm
    return {
        **{name: getattr(statistics, name) for name in ("count", "mean", "zeros", "negative", "positive")},
        "min": statistics.minimum,
        "max": statistics.maximum,
        "deviation": statistics.std,
        "norm": norm if norm is None or math.isfinite(norm) else None,  # None if it overflows float64
        **{name: getattr(statistics, attribute) for name, attribute in _NON_FINITE.items()},
    }


PLUGIN = Plugin(name="tensor", router=router)
