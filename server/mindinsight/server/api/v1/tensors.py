"""Tensors: what was recorded, its statistics, its histogram, and slices of its values."""

from __future__ import annotations

import math
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import Uses
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
from mindinsight.server.api.v1.plugins import at, newest_rows, payloads_of
from mindinsight.server.api.v1.rebin import Counted, bucket_number, common_edges, rebin
from mindinsight.server.api.v1.thin import TENSORS, even_rows
from mindinsight.server.debug.statistics import Statistics, measure
from mindinsight.server.formats.payloads import Tensor, tensor
from mindinsight.server.slices import parse_slice
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(prefix="/datavisual", tags=["tensors"])

MOST_VALUES: Final = 100_000
_DETAILS: Final = ("stats", "histogram", "data")


@router.get("/tensors")
def tensors(
    service: Uses,
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
    asked = to_integer(required(step, "step"), "step") if what == "data" else None
    index = required(dims, "dims") if what == "data" else ""
    snapshot = service.store.snapshot()
    found = []
    for wanted in train_id or ():
        run = train(snapshot, wanted)
        for name in tag or ():
            series = payloads_of(run, name, "tensor", Fault.TENSOR)
            values = _slice(series, asked, index) if asked is not None else _values(series, what, full)
            found.append({"train_id": wanted, "tag": name, "values": values})
    return {"tensors": found}


def _slice(series: ReferenceSeries, step: int, index: str) -> list[dict[str, Any]]:
    """The one item that ``detail=data`` answers."""
    rows = [row for row in newest_rows(series).tolist() if int(series.steps[row]) == step]
    if not rows:
        raise V1Error(Fault.TENSOR_STEP, "Parameter step names no tensor of this tag.")
    one = tensor(series.read(rows[-1]))
    part = np.asarray(_floats(one)[index_of(index, one.values.shape, "dims")])
    if part.size > MOST_VALUES:
        raise V1Error(
            Fault.TENSOR_ANSWER, f"The slice holds more than {MOST_VALUES} values; ask for a part of it."
        )
    value = {
        **_described(one),
        "data": plain_values(part),
        "statistics": statistics_json(measure(part), measure(_floats(one))),
    }
    return [{**at(series, rows[-1]), "value": value}]


def index_of(text: str, shape: tuple[int, ...], name: str) -> tuple[int | slice, ...]:
    """The part of a tensor that the parameter ``name`` asks for; raises V1Error."""
    try:
        return parse_slice(text, shape)
    except ValueError as error:
        raise V1Error(Fault.VALUE, f"Parameter {name} is wrong: it {error}.") from None


def _values(series: ReferenceSeries, detail: str | None, full: bool) -> list[dict[str, Any]]:
    rows = newest_rows(series)
    rows = rows if full else rows[even_rows(len(rows), TENSORS)]
    if detail is None:
        return [{**at(series, row), "value": _described(tensor(series.read(row)))} for row in rows.tolist()]
    read = [tensor(series.read(row)) for row in rows.tolist()]
    measured = [measure(_floats(one)) for one in read]
    values = [
        {**_described(one), "statistics": statistics_json(facts, facts)}
        for one, facts in zip(read, measured, strict=True)
    ]
    if detail == "histogram":
        for value, buckets in zip(values, _histograms(read), strict=True):
            value["histogram_buckets"] = buckets
    return [{**at(series, row), "value": value} for row, value in zip(rows.tolist(), values, strict=True)]


def _histograms(read: list[Tensor]) -> list[list[list[float]]]:
    """Buckets of every tensor on common edges, counted from the values themselves."""
    finite = [values[np.isfinite(values)] for values in map(_floats, read)]
    whole = [_counted(values) for values in finite]
    edges = common_edges(whole)
    return [rebin(_counted(values, edges), edges) for values in finite]


def _counted(values: npt.NDArray[np.float64], edges: npt.NDArray[np.float64] | None = None) -> Counted:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if edges is None:
        edges = (
            np.linspace(low, high, bucket_number(values.size) + 1) if low < high else np.array([low, high])
        )
    if edges[0] == edges[-1]:
        return Counted(edges[:1], np.zeros(1), np.array([float(values.size)]), low, high)
    counts, _ = np.histogram(values, bins=edges)
    return Counted(edges[:-1], np.diff(edges), counts.astype(np.float64), low, high)


def _floats(one: Tensor) -> npt.NDArray[np.float64]:
    return np.asarray(one.values, np.float64)


def _described(one: Tensor) -> dict[str, Any]:
    return {"dims": list(one.values.shape), "data_type": one.data_type}


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
