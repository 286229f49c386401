"""Routes for recorded tensors: statistics, histograms, and slices of the values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from fastapi import Query

from mindinsight.server.compute.slices import Index, Table, parse_slice
from mindinsight.server.compute.tensor_statistics import Statistics, measure, measure_values
from mindinsight.server.formats.payloads.tensor_payloads import Recorded
from mindinsight.server.http.bulkhead_routes import PayloadRoute
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.store.tensor_source import opened_tensor
from mindinsight.server.v1.histogram_routes import HistogramColumns, bucket_number, common_edges, rebin
from mindinsight.server.v1.jobs import CurrentService, payloads_of, time_and_step
from mindinsight.server.v1.row_sampling import TENSORS, line_rows
from mindinsight.server.v1.v1_parameters import (
    FullFlag,
    Number,
    RequiredTexts,
    Text,
    first_value,
    loaded_run,
    required,
    to_integer,
)
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual", tags=["tensors"])

MOST_VALUES: Final = 100_000  # of a response, as in MindInsight
_DETAILS: Final = ("stats", "histogram", "data")


@router.get("/tensors")
def tensors(
    service: CurrentService,
    train_id: RequiredTexts = None,
    tag: RequiredTexts = None,
    detail: Text = None,
    step: Number = None,
    dims: Annotated[
        list[str] | None, Query(description="one integer or slice for each dimension: [0, :, 1:3]")
    ] = None,
    full: FullFlag = False,
) -> dict[str, Any]:
    """Return one item for each pair of job and tag. An invalid pair fails the whole request."""
    required(train_id, "train_id")
    required(tag, "tag")
    kind = first_value(detail)
    if kind is not None and kind not in _DETAILS:
        raise V1Error(Fault.VALUE, f"Parameter detail must be one of {', '.join(_DETAILS)}.")
    number = to_integer(required(step, "step"), "step") if kind == "data" else None
    index = required(dims, "dims") if kind == "data" else ""
    snapshot = service.store.snapshot()
    items = []
    for run_id in train_id or ():
        run = loaded_run(snapshot, run_id)
        for name in tag or ():
            series = payloads_of(run, name, "tensor", Fault.TENSOR)
            values = (
                _slice_json(series, number, index) if number is not None else _series_json(series, kind, full)
            )
            items.append({"train_id": run_id, "tag": name, "values": values})
    return {"tensors": items}


def _slice_json(series: ReferenceSeries, step: int, index: str) -> list[dict[str, Any]]:
    """Return the single item of `detail=data`: a slice of the tensor at a step. Raises V1Error."""
    rows = [row for row in series.line_rows.tolist() if int(series.steps[row]) == step]
    if not rows:
        raise V1Error(Fault.TENSOR_STEP, "Parameter step does not match any tensor of this tag.")
    with opened_tensor(series, rows[-1]) as tensor:
        table = Table(tensor.values.shape, index_of(index, tensor.values.shape, "dims"))
        if table.rows * table.columns > MOST_VALUES:
            raise V1Error(
                Fault.TENSOR_ANSWER, f"The slice has more than {MOST_VALUES} values; request a part of it."
            )
        part = np.asarray(tensor.values.part(table.index), np.float64)
        value = {
            **_header_json(tensor),
            "data": plain_values(part),
            "statistics": statistics_json(measure(part), _statistics(tensor)),
        }
    return [{**time_and_step(series, rows[-1]), "value": value}]


def index_of(text: str, shape: tuple[int, ...], name: str) -> Index:
    """Parse the slice in the parameter `name`. Raises V1Error."""
    try:
        return parse_slice(text, shape)
    except ValueError as error:
        raise V1Error(Fault.VALUE, f"Parameter {name} is wrong: it {error}.") from None


def _series_json(series: ReferenceSeries, detail: str | None, full: bool) -> list[dict[str, Any]]:
    rows = line_rows(series, TENSORS, full)
    values: list[dict[str, Any]] = []
    measured: list[Statistics] = []
    for row in rows.tolist():
        with opened_tensor(series, row) as tensor:
            values.append(_header_json(tensor))
            measured += [_statistics(tensor)] if detail is not None else []
    for value, facts in zip(values, measured, strict=False):
        value["statistics"] = statistics_json(facts, facts)
    if detail == "histogram":
        for value, buckets in zip(values, _histograms(series, rows.tolist(), measured), strict=True):
            value["histogram_buckets"] = buckets
    return [
        {**time_and_step(series, row), "value": value}
        for row, value in zip(rows.tolist(), values, strict=True)
    ]


def _histograms(
    series: ReferenceSeries, rows: list[int], measured: list[Statistics]
) -> list[list[list[float]]]:
    """Count the tensors' values in histograms with common edges."""
    histograms = [_histogram(series, row, facts) for row, facts in zip(rows, measured, strict=True)]
    edges = common_edges(histograms)
    return [
        rebin(_histogram(series, row, facts, edges), edges) for row, facts in zip(rows, measured, strict=True)
    ]


def _histogram(
    series: ReferenceSeries, row: int, facts: Statistics, edges: npt.NDArray[np.float64] | None = None
) -> HistogramColumns:
    low, high = float(facts.minimum or 0), float(facts.maximum or 0)
    finite = facts.count - facts.nans - facts.positive_infs - facts.negative_infs
    if edges is None:
        edges = np.linspace(low, high, bucket_number(finite) + 1) if low < high else np.array([low, high])
    if edges[0] == edges[-1]:
        return HistogramColumns(edges[:1], np.zeros(1), np.array([float(finite)]), low, high)
    counts = np.zeros(len(edges) - 1)
    with opened_tensor(series, row) as tensor:
        for piece in tensor.values.pieces():
            flat = np.asarray(piece, np.float64)
            counts += np.histogram(flat[np.isfinite(flat)], bins=edges)[0]
    return HistogramColumns(edges[:-1], np.diff(edges), counts, low, high)


def _statistics(tensor: Recorded) -> Statistics:
    """Return the statistics of the values as float64, as in MindInsight."""
    measured = measure_values(tensor.values)
    if measured.minimum is None or measured.maximum is None:
        return measured
    return replace(measured, minimum=float(measured.minimum), maximum=float(measured.maximum))


def _header_json(tensor: Recorded) -> dict[str, Any]:
    return {"dims": list(tensor.values.shape), "data_type": tensor.data_type}


def plain_values(values: npt.NDArray[np.float64]) -> Any:
    """Return values as nested lists, with "NAN", "INF" and "-INF" for non-finite ones."""
    if np.isfinite(values).all():
        return values.tolist()
    flat = [_text(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(values.shape).tolist()


def _text(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NAN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def statistics_json(part: Statistics, overall: Statistics) -> dict[str, Any]:
    """Return statistics of a slice and of the whole tensor as JSON, with 0 for missing ones."""
    return {
        **_common_statistics(part, ""),
        **_common_statistics(overall, "overall_"),
        "overall_zero_count": float(overall.zeros),
        "overall_neg_zero_count": float(overall.negative - overall.negative_infs),
        "overall_pos_zero_count": float(overall.positive - overall.positive_infs),
    }


def _common_statistics(statistics: Statistics, prefix: str) -> dict[str, Any]:
    return {
        f"{prefix}max": statistics.maximum or 0.0,
        f"{prefix}min": statistics.minimum or 0.0,
        f"{prefix}avg": statistics.mean or 0.0,
        f"{prefix}count": statistics.count,
        f"{prefix}nan_count": statistics.nans,
        f"{prefix}neg_inf_count": statistics.negative_infs,
        f"{prefix}pos_inf_count": statistics.positive_infs,
    }
