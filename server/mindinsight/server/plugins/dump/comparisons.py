"""Routes of comparisons of two steps, ranks or dumps: their rows and report while they are computed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.compare.comparison import Row, Side, compare_sides
from mindinsight.server.debug.compare.divergence import (
    COSINE,
    RELATIVE,
    Divergence,
    Tolerance,
    beyond,
    first_divergence,
)
from mindinsight.server.debug.compare.divergence_strip import STATES, layer_bands, row_error, strip_marks
from mindinsight.server.debug.compare.msprobe_report import (
    has_xlsx,
    write_msprobe_csv,
    write_msprobe_xlsx,
)
from mindinsight.server.debug.compare.report import fields, write_csv
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dependencies import Uses, open_known_dump
from mindinsight.server.plugins.dump.encoders import damage_json

router = APIRouter(route_class=DumpRoute)

_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_BEFORE: Final = 3  # rows that are shown before the first divergence


class ComparedStep(BaseModel):
    dump: str
    rank: int = Field(0, ge=0)
    step: int = Field(0, ge=0)
    graph: str | None = None


class Comparison(BaseModel):
    """Body of a comparison request. ``names`` maps operators of the target to operators of the reference."""

    target: ComparedStep
    reference: ComparedStep
    names: dict[str, str] = Field(default_factory=dict)


def _comparison(service: Service, body: Comparison) -> BackgroundJob[Row]:
    target, reference = (_side(service, side) for side in (body.target, body.reference))
    names, executor = body.names, service.executor
    return BackgroundJob(lambda: compare_sides(target, reference, names, executor), len(target.entries()))


COMPARISON: Final = NumberedJob("comparison", Comparison, _comparison)


@router.post("/compare")
def start_comparison(service: Uses, body: Comparison) -> dict[str, int]:
    """Start a comparison; its rows are read by the number in the response."""
    return {"comparison": COMPARISON.start(service, body)}


@router.get("/compare/{number}")
def rows(
    service: Uses,
    number: int,
    q: Annotated[str, Query(max_length=500)] = "",
    only: Literal["", "beyond", "warning", "error", "alone"] = "",
    sort: Literal[
        "sequence", "lost", "cosine", "max_absolute", "max_relative", "one_thousandth", "norm_error"
    ] = "sequence",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    cosine: float = COSINE,
    relative: float = RELATIVE,
    start: Annotated[
        Literal["", "divergence"], Query(description="begin just before the first divergence")
    ] = "",
) -> dict[str, Any]:
    """Rows of a comparison so far, in execution order of the target or worst first, and the divergence."""
    job = COMPARISON.find(service, number)
    compared: list[Row] = list(job.items)
    tolerance = Tolerance(cosine, relative)
    selected = [row for row in compared if _passes(row, q.lower(), only, tolerance)]
    divergence = first_divergence(compared, tolerance)
    if sort != "sequence":
        selected = _worst_first(selected, sort)
    elif start and divergence is not None:
        offset = _position(selected, divergence)
    return {
        "done": job.done,
        "error": job.error,
        "all": max(job.total or 0, len(compared)),  # tensors of the reference alone come on top
        "compared": len(compared),
        "total": len(selected),
        "levels": {
            level: sum(row.level == level for row in compared) for level in ("pass", "warning", "error")
        },
        "beyond": sum(beyond(row, tolerance) is True for row in compared),
        "divergence": _divergence_json(divergence),
        "offset": offset,
        "request": service.workspace.job_requests.body("comparison", number),
        "rows": [_row_json(row, tolerance) for row in selected[offset : offset + limit]],
    }


@router.get("/compare/{number}/strip")
def strip(service: Uses, number: int, cosine: float = COSINE, relative: float = RELATIVE) -> dict[str, Any]:
    """Error and state of every operator so far as columns, in execution order, and the layers they are in."""
    job = COMPARISON.find(service, number)
    marks = strip_marks(list(job.items), Tolerance(cosine, relative))
    return {
        "operators": [mark.operator for mark in marks],
        "errors": non_finite_as_text([mark.error for mark in marks]),
        "states": [STATES.index(mark.state) for mark in marks],
        "names": STATES,
        "layers": [
            {"name": band.layer, "begin": band.begin, "end": band.end}
            for band in layer_bands([mark.operator for mark in marks])
        ],
    }


@router.get("/compare/{number}/csv", response_class=Response)
def report(service: Uses, number: int, msprobe: bool = False) -> Response:
    """Report of a comparison as CSV: all rows so far, with our columns or with those of msprobe."""
    sink = io.StringIO()
    compared: list[Row] = list(COMPARISON.find(service, number).items)
    if msprobe:
        write_msprobe_csv(compared, sink)
    else:
        write_csv(compared, sink)
    headers = {"Content-Disposition": "attachment; filename=comparison.csv"}
    content = sink.getvalue().encode("utf-8", "backslashreplace")  # names may not be valid Unicode
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/compare/{number}/xlsx", response_class=Response)
def workbook(service: Uses, number: int) -> Response:
    """Report of a comparison as an Excel workbook with the columns of msprobe: all rows so far."""
    if not has_xlsx():
        text = "Excel files need a package on the server: pip install 'mindinsight[excel]'."
        raise ApiError(503, "no_excel", text)
    sink = io.BytesIO()
    write_msprobe_xlsx(list(COMPARISON.find(service, number).items), sink)
    headers = {"Content-Disposition": "attachment; filename=comparison.xlsx"}
    return Response(sink.getvalue(), media_type=_XLSX, headers=headers)


def errors_of(rows: Sequence[Row]) -> dict[str, float]:
    """Largest relative error of the outputs of each operator of the target."""
    errors: dict[str, float] = {}
    for row in list(rows):
        entry, error = row.compared.pair.target, row_error(row)
        if entry is not None and entry.direction == "output" and error is not None:
            errors[entry.operator] = max(errors.get(entry.operator, 0.0), error)
    return errors


def _side(service: Service, body: ComparedStep) -> Side:
    side = Side(open_known_dump(service, body.dump), body.rank, body.step, body.graph)
    if not side.entries():
        raise ApiError(
            404,
            "unknown_dump_step",
            f"No tensors at rank {body.rank}, step {body.step}.",
            rank=body.rank,
            step=body.step,
        )
    return side


def _passes(row: Row, words: str, only: str, tolerance: Tolerance) -> bool:
    pair = row.compared.pair
    if words and not any(
        words in tensor.operator.lower() for tensor in (pair.target, pair.reference) if tensor
    ):
        return False
    if only == "alone":
        return pair.target is None or pair.reference is None
    if only == "beyond":
        return beyond(row, tolerance) is True
    return not only or row.level == only


def _worst_first(rows: list[Row], sort: str) -> list[Row]:
    """Sort rows by a measure, worst first; rows without it come last."""
    larger_is_better = sort in ("cosine", "one_thousandth")
    measured = [(value, i) for i, row in enumerate(rows) if (value := fields(row)[sort]) is not None]
    with_value = {i for _, i in measured}
    ordered = sorted(measured, key=lambda pair: pair[0] if larger_is_better else -pair[0])
    return [rows[i] for _, i in ordered] + [row for i, row in enumerate(rows) if i not in with_value]


def _position(selected: Sequence[Row], divergence: Divergence) -> int:
    """Position of the first row to show; 0 where the rows of the divergence are not among the selected."""
    first = {id(row) for row in divergence.rows}
    return max(0, next((i for i, row in enumerate(selected) if id(row) in first), 0) - _BEFORE)


def _divergence_json(divergence: Divergence | None) -> dict[str, Any] | None:
    if divergence is None:
        return None
    return {
        "kind": divergence.kind,
        "tensors": [_tensor_json(row.compared.pair.target) for row in divergence.rows],
    }


def _row_json(row: Row, tolerance: Tolerance) -> dict[str, Any]:
    pair = row.compared.pair
    tensors = {"target_tensor": _tensor_json(pair.target), "reference_tensor": _tensor_json(pair.reference)}
    damage = damage_json(row.compared.damage)
    verdict = {"codes": row.codes, "beyond": beyond(row, tolerance), "damage": damage}
    return {**non_finite_as_text(fields(row)), **tensors, **verdict}


def _tensor_json(entry: TensorEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    names = ("graph", "operator", "recorded", "type", "direction", "slot", "sequence")
    return {name: getattr(entry, name) for name in names}
