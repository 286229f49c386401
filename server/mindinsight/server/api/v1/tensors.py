"""Tensors: what was recorded, its statistics, its histogram, and slices of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from fastapi import Query

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import (
    Full,
    NeededTexts,
    Number,
    Text,
    first,
    required,
    to_integer,
    train,
)
from mindinsight.server.api.v1.plugins import at, payloads_of
from mindinsight.server.api.v1.rebin import Counted, bucket_number, common_edges, rebin
from mindinsight.server.api.v1.sampling import TENSORS, even_rows
from mindinsight.server.compute.slices import Index, Table, parse_slice
from mindinsight.server.compute.statistics import Statistics, measure, measure_values
from mindinsight.server.formats.payloads import Recorded, recorded
from mindinsight.server.store.series import ReferenceSeries

router = JsonRouter(prefix="/datavisual", tags=["tensors"])

MOST_VALUES: Final = 100_000
_DETAILS: Final = ("stats", "histogram", "data")


@router.get("/tensors")
def tensors(
    service: CurrentService,
    train_id: NeededTexts = None,
    tag: NeededTexts = None,
    detail: Text = None,
    step: Number = None,
    dims: Annotated[
        list[str] | None, Query(description="one integer or slice for each dimension: [0, :, 1:3]")
    ] = None,
    full: Full = False,
) -> dict[str, Any]:
    """One item for each pair of job and tag; one bad pair fails the whole call."""
    required(train_id, "train_id")
    required(tag, "tag")
    what = first(detail)
    if what is not None and what not in _DETAILS:
        raise V1Error(Fault.VALUE, f"Parameter detail must be one of {', '.join(_DETAILS)}.")
    number = to_integer(required(step, "step"), "step") if what == "data" else None
    index = required(dims, "dims") if what == "data" else ""
    snapshot = service.store.snapshot()
    items = []
    for wanted in train_id or ():
        run = train(snapshot, wanted)
        for name in tag or ():
            series = payloads_of(run, name, "tensor", Fault.TENSOR)
            values = _slice(series, number, index) if number is not None else _values(series, what, full)
            items.append({"train_id": wanted, "tag": name, "values": values})
    return {"tensors": items}


def _slice(series: ReferenceSeries, step: int, index: str) -> list[dict[str, Any]]:
    """The one item that ``detail=data`` answers."""
    rows = [row for row in series.line_rows.tolist() if int(series.steps[row]) == step]
    if not rows:
        raise V1Error(Fault.TENSOR_STEP, "Parameter step names no tensor of this tag.")
    with _opened(series, rows[-1]) as tensor:
        table = Table(tensor.values.shape, index_of(index, tensor.values.shape, "dims"))
        if table.rows * table.columns > MOST_VALUES:
            raise V1Error(
                Fault.TENSOR_ANSWER, f"The slice holds more than {MOST_VALUES} values; ask for a part of it."
            )
        part = np.asarray(tensor.values.part(table.index), np.float64)
        value = {
            **_described(tensor),
            "data": plain_values(part),
            "statistics": statistics_json(measure(part), _measured(tensor)),
        }
    return [{**at(series, rows[-1]), "value": value}]


@contextmanager
def _opened(series: ReferenceSeries, row: int) -> Iterator[Recorded]:
    """A tensor that is read in the block, by parts."""
    with series.located(row) as location:
        yield recorded(Path(location.path), location.offset, location.size)


def index_of(text: str, shape: tuple[int, ...], name: str) -> Index:
    """The part of a tensor that the parameter ``name`` asks for; raises V1Error."""
    try:
        return parse_slice(text, shape)
    except ValueError as error:
        raise V1Error(Fault.VALUE, f"Parameter {name} is wrong: it {error}.") from None


def _values(series: ReferenceSeries, detail: str | None, full: bool) -> list[dict[str, Any]]:
    rows = series.line_rows
    rows = rows if full else rows[even_rows(len(rows), TENSORS)]
    values: list[dict[str, Any]] = []
    measured: list[Statistics] = []
    for row in rows.tolist():
        with _opened(series, row) as tensor:
            values.append(_described(tensor))
            measured += [_measured(tensor)] if detail is not None else []
    for value, facts in zip(values, measured, strict=False):
        value["statistics"] = statistics_json(facts, facts)
    if detail == "histogram":
        for value, buckets in zip(values, _histograms(series, rows.tolist(), measured), strict=True):
            value["histogram_buckets"] = buckets
    return [{**at(series, row), "value": value} for row, value in zip(rows.tolist(), values, strict=True)]


def _histograms(
    series: ReferenceSeries, rows: list[int], measured: list[Statistics]
) -> list[list[list[float]]]:
    """Buckets of every tensor on common edges, counted from the values themselves."""
    whole = [_counted(series, row, facts) for row, facts in zip(rows, measured, strict=True)]
    edges = common_edges(whole)
    return [
        rebin(_counted(series, row, facts, edges), edges) for row, facts in zip(rows, measured, strict=True)
    ]


def _counted(
    series: ReferenceSeries, row: int, facts: Statistics, edges: npt.NDArray[np.float64] | None = None
) -> Counted:
    low, high = float(facts.minimum or 0), float(facts.maximum or 0)
    finite = facts.count - facts.nans - facts.positive_infs - facts.negative_infs
    if edges is None:
        edges = np.linspace(low, high, bucket_number(finite) + 1) if low < high else np.array([low, high])
    if edges[0] == edges[-1]:
        return Counted(edges[:1], np.zeros(1), np.array([float(finite)]), low, high)
    counts = np.zeros(len(edges) - 1)
    with _opened(series, row) as tensor:
        for piece in tensor.values.pieces():
            flat = np.asarray(piece, np.float64)
            counts += np.histogram(flat[np.isfinite(flat)], bins=edges)[0]
    return Counted(edges[:-1], np.diff(edges), counts, low, high)


def _measured(tensor: Recorded) -> Statistics:
    """Of the values as float64, which is what v1 shows."""
    measured = measure_values(tensor.values)
    if measured.minimum is None or measured.maximum is None:
        return measured
    return replace(measured, minimum=float(measured.minimum), maximum=float(measured.maximum))


def _described(tensor: Recorded) -> dict[str, Any]:
    return {"dims": list(tensor.values.shape), "data_type": tensor.data_type}


def plain_values(values: npt.NDArray[np.float64]) -> Any:
    """Nested lists; what is not finite as NAN, INF and -INF."""
    if np.isfinite(values).all():
        return values.tolist()
    flat = [_text(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(values.shape).tolist()


def _text(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NAN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def statistics_json(part: Statistics, whole: Statistics) -> dict[str, Any]:
    return {
        "max": part.maximum or 0.0,
        "min": part.minimum or 0.0,
        "avg": part.mean or 0.0,
        "count": part.count,
        "nan_count": part.nans,
        "neg_inf_count": part.negative_infs,
        "pos_inf_count": part.positive_infs,
        "overall_max": whole.maximum or 0.0,
        "overall_min": whole.minimum or 0.0,
        "overall_avg": whole.mean or 0.0,
        "overall_count": whole.count,
        "overall_nan_count": whole.nans,
        "overall_neg_inf_count": whole.negative_infs,
        "overall_pos_inf_count": whole.positive_infs,
        "overall_zero_count": float(whole.zeros),
        "overall_neg_zero_count": float(whole.negative - whole.negative_infs),
        "overall_pos_zero_count": float(whole.positive - whole.positive_infs),
    }
