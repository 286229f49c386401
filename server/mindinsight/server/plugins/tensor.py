"""Tensors: any slice of any recorded step, statistics, distribution over the steps, downloads."""

from __future__ import annotations

import io
import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Depends, Header, Query, Response

from mindinsight.server.answers import answer
from mindinsight.server.debug.statistics import Statistics, measure
from mindinsight.server.errors import ApiError, unknown_run, unknown_tag
from mindinsight.server.formats.payloads import Tensor
from mindinsight.server.formats.payloads import tensor as read_tensor
from mindinsight.server.plugins import Plugin
from mindinsight.server.service import Service, service_of
from mindinsight.server.slices import first_slice, parse_slice
from mindinsight.server.store.run import Snapshot
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter()

Uses = Annotated[Service, Depends(service_of)]
Accept = Annotated[str, Header()]
Row = Annotated[int, Query(ge=0, description="place among the steps")]
Dims = Annotated[
    str | None, Query(description="[0,:,1:3]: an integer or slice for each dimension, two slices at most")
]

_WINDOW: Final = 200  # rows and columns of a table sent at once
_MOST_STEPS: Final = 400  # steps read for one distribution


@router.get("/steps")
def steps(service: Uses, run: str, tag: str, accept: Accept = "") -> Response:
    """Steps and times of all tensors of a tag, in the order written; shape and type of the newest."""
    series = _series(service.store.snapshot(), run, tag)
    newest = read_tensor(series.read(series.count - 1))
    content: dict[str, Any] = {"run": run, "tag": tag, "step": series.steps, "wall": series.walls}
    return answer({**content, **_described(newest), "first": first_slice(newest.values.shape)}, accept)


@router.get("/slice")
def part(
    service: Uses,
    run: str,
    tag: str,
    row: Row,
    dims: Dims = None,
    top: Annotated[int, Query(ge=0, description="first row of the window")] = 0,
    left: Annotated[int, Query(ge=0, description="first column of the window")] = 0,
    accept: Accept = "",
) -> Response:
    """A window of a slice, row by row, with statistics of the slice and of the whole tensor."""
    one = _tensor(service.store.snapshot(), run, tag, row)
    index = dims or first_slice(one.values.shape)
    sliced = _sliced(one, index)
    table = _as_table(sliced)
    window = table[top : top + _WINDOW, left : left + _WINDOW]
    return answer(
        {
            **_described(one),
            "dims": index,
            "rows": table.shape[0],
            "columns": table.shape[1],
            "top": top,
            "left": left,
            "window": list(window.shape),
            "values": _sendable(window),
            "slice": _facts(measure(sliced)),
            "whole": _facts(measure(one.values)),
        },
        accept,
    )


@router.get("/distribution")
def distribution(
    service: Uses, run: str, tag: str, bins: Annotated[int, Query(ge=2, le=400)] = 80, accept: Accept = ""
) -> Response:
    """How the values are spread over the steps: ``counts`` holds steps x bins numbers, step by step."""
    series = _series(service.store.snapshot(), run, tag)
    rows = np.unique(
        np.linspace(0, series.count - 1, min(series.count, _MOST_STEPS)).round().astype(np.int64)
    )
    measured = [measure(read_tensor(series.read(row)).values) for row in rows.tolist()]
    lows = [one.minimum for one in measured if one.minimum is not None]
    highs = [one.maximum for one in measured if one.maximum is not None]
    low, high = (float(min(lows)), float(max(highs))) if lows else (0.0, 0.0)
    edges = np.linspace(low, high, bins + 1) if low < high else np.linspace(low - 0.5, high + 0.5, bins + 1)
    counts = [_counts(read_tensor(series.read(row)), edges) for row in rows.tolist()]
    content = {"step": series.steps[rows], "wall": series.walls[rows], "count": series.count, "edges": edges}
    return answer(
        {**content, "counts": np.concatenate(counts), "facts": [_facts(one) for one in measured]}, accept
    )


@router.get("/download", response_class=Response)
def download(
    service: Uses, run: str, tag: str, row: Row, dims: Dims = None, format: Literal["npy", "csv"] = "npy"
) -> Response:
    """The tensor, or a slice of it, as npy with its own type, or as CSV."""
    snapshot = service.store.snapshot()
    one = _tensor(snapshot, run, tag, row)
    values = one.values if dims is None else _sliced(one, dims)
    step = int(_series(snapshot, run, tag).steps[row])
    name = re.sub(r"[^\w.-]+", "_", f"{tag}_{step}.{format}")
    sink = io.BytesIO()
    if format == "npy":
        np.save(sink, values, allow_pickle=False)
    else:
        np.savetxt(sink, _as_table(values), delimiter=",", fmt="%s")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(
        sink.getvalue(),
        media_type="text/csv" if format == "csv" else "application/octet-stream",
        headers=headers,
    )


def _series(snapshot: Snapshot, run: str, tag: str) -> ReferenceSeries:
    if run not in snapshot.runs:
        raise unknown_run(run)
    series = snapshot.runs[run].references.get("tensor", {}).get(tag)
    if series is None:
        raise unknown_tag(tag)
    return series


def _tensor(snapshot: Snapshot, run: str, tag: str, row: int) -> Tensor:
    series = _series(snapshot, run, tag)
    if row >= series.count:
        raise ApiError(404, "unknown_step", f"This tag has {series.count} tensors.", count=series.count)
    return read_tensor(series.read(row))


def _sliced(one: Tensor, dims: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(one.values[parse_slice(dims, one.values.shape)])
    except ValueError as error:
        raise ApiError(422, "bad_slice", f"The slice {error}.", why=str(error)) from None


def _as_table(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Two dimensions of whatever has at most two; a longer shape is laid out row by row."""
    return values if values.ndim == 2 else values.reshape(-1, values.shape[-1] if values.ndim > 1 else 1)


def _sendable(window: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In a type that a browser has: float16 and 64-bit integers as float64."""
    flat = np.ascontiguousarray(window).ravel()
    return flat.astype(np.float64) if flat.dtype.kind in "fiu" and flat.dtype != np.float32 else flat


def _counts(one: Tensor, edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    values = np.asarray(one.values, np.float64)
    return np.histogram(values[np.isfinite(values)], bins=edges)[0].astype(np.float32)


def _described(one: Tensor) -> dict[str, Any]:
    return {"shape": list(one.values.shape), "type": one.data_type.removeprefix("DT_").lower()}


def _facts(one: Statistics) -> dict[str, Any]:
    return {
        "count": one.count,
        "min": one.minimum,
        "max": one.maximum,
        "mean": one.mean,
        "deviation": one.std,
        "norm": one.norm,
        "zeros": one.zeros,
        "negative": one.negative,
        "positive": one.positive,
        "nan": one.nans,
        "positive_infinity": one.positive_infs,
        "negative_infinity": one.negative_infs,
    }


PLUGIN = Plugin(name="tensor", order=40, router=router)
