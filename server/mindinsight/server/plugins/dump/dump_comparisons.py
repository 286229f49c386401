"""Routes of comparisons of two steps, ranks or dumps: their rows and report while they are computed."""

import io
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from mindinsight.server.claims import Claim
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.debug.compare import comparison_export
from mindinsight.server.debug.compare.compared_rows import parameter_name
from mindinsight.server.debug.compare.divergence import Outcome, decide, first_so_far
from mindinsight.server.debug.compare.divergence_strip import STATES, layer_bands, row_error, strip_marks
from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare_sides
from mindinsight.server.debug.compare.row_states import agrees_by, state
from mindinsight.server.debug.compare.step_comparison import gap_claims, other_step, unused_names
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dump_requests import (
    damage_json,
    has_words,
    open_known_dump,
    unknown_step,
)

router = APIRouter(route_class=DumpRoute)

_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_BEFORE: Final = 3  # rows shown before the first divergence, for context


Sort = Literal["sequence", "lost", "cosine", "max_absolute", "max_relative", "one_thousandth", "norm_error"]
Start = Annotated[Literal["", "divergence"], Query(description="begin just before the first divergence")]


class ComparedStep(BaseModel):
    """One side of a comparison: a dump's rank and step, and optionally one graph."""

    dump: str
    rank: int = Field(0, ge=0)
    step: int = Field(0, ge=0)
    graph: str | None = None


class Comparison(BaseModel):
    """Body of a comparison request. `names` maps operators of the target to operators of the reference."""

    target: ComparedStep
    reference: ComparedStep
    names: dict[str, str] = Field(default_factory=dict)


class _ComparisonJob(BackgroundJob[Row]):
    """Comparison of two sides in the background."""

    def __init__(self, service: Service, body: Comparison) -> None:
        target, reference = (_side(service, side) for side in (body.target, body.reference))
        names, executor = body.names, service.executor
        self.names = names
        self.unlisted = target.unlisted() + reference.unlisted()
        self.about = [*other_step(target, reference), *gap_claims(target.gaps(), reference.gaps())]
        total = len(target.entries())
        super().__init__(service.jobs, lambda: compare_sides(target, reference, names, executor), total)


COMPARISON: Final = NumberedJob("comparison", Comparison, _ComparisonJob)


@router.post("/compare")
def start_comparison(service: CurrentService, body: Comparison) -> dict[str, int]:
    """Start a comparison in the background, and return its number as `comparison`. Returns 404 for an unknown
    dump, rank or step."""
    return {"comparison": COMPARISON.start(service, body)}


@router.get("/compare/{number}")
def rows(
    service: CurrentService,
    number: int,
    q: Annotated[str, Query(max_length=500)] = "",
    only: Literal["", "agree", "differ", "unknown", "order", "alone"] = "",
    sort: Sort = "sequence",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    cosine: float | None = None,
    relative: float | None = None,
    start: Start = "",
) -> dict[str, Any]:
    """Return a page of the `rows` of a comparison computed so far, in execution order of the target or worst
    first. The `claims` are decided once it is `done`. Returns 404 for an unknown or expired number.

    Until then a claim names the first difference so far. Without a tolerance, the default of each type
    applies.
    """
    job = COMPARISON.find(service, number)
    done = job.done  # read before the rows, so that none is added after it
    compared: list[Row] = list(job.items)
    tolerance = Tolerance(relative, cosine)
    selected = [row for row in compared if _passes(row, q, only, tolerance)]
    unlisted, about = 0, list[Claim]()
    if isinstance(job, _ComparisonJob):
        unlisted, about = job.unlisted, [*job.about, *unused_names(job.names, compared)]
    outcome = decide(compared, tolerance, unlisted)
    total = max(job.total or 0, len(compared))  # tensors that only the reference has are added
    claims = [*outcome.claims, *about] if done else list(first_so_far(outcome, total))
    if sort != "sequence":
        selected = _worst_first(selected, sort)
    elif start and outcome.first:
        offset = _position(selected, outcome)
    return {
        "done": done,
        "error": job.error,
        "all": total,
        "compared": len(compared),
        "total": len(selected),
        "counts": outcome.counts,
        "tolerances": outcome.tolerances,
        "claims": [] if job.error else [claim.as_json() for claim in claims],
        "offset": offset,
        "request": service.workspace.job_requests.body("comparison", number),
        "rows": [row_json(row, tolerance) for row in selected[offset : offset + limit]],
    }


@router.get("/compare/{number}/strip")
def strip(
    service: CurrentService, number: int, cosine: float | None = None, relative: float | None = None
) -> dict[str, Any]:
    """Return error and state of every operator so far as columns, in execution order, and their layers.
    Returns 404 for an unknown or expired number.

    `measure` names the error: the L2 distance relative to the reference, or the relative error of the norm if
    no values were compared. `states` are indices into `names`. `done` is false while more may come.
    """
    job = COMPARISON.find(service, number)
    done = job.done  # read before the rows, so that none is added after it
    marks = strip_marks(list(job.items), Tolerance(relative, cosine))
    operators = [mark.operator for mark in marks]
    bands = layer_bands(operators)
    return {
        "done": done,
        "measure": "distance" if any(row.compared.measures for row in job.items) else "norm",
        "operators": operators,
        "errors": non_finite_as_text([mark.error for mark in marks]),
        "states": [STATES.index(mark.state) for mark in marks],
        "names": STATES,
        "layers": [{"name": band.layer, "begin": band.begin, "end": band.end} for band in bands],
    }


@router.get("/compare/{number}/csv", response_class=Response)
def report(service: CurrentService, number: int, msprobe: bool = False) -> Response:
    """Return a comparison as CSV: all rows so far, with the columns of this server or msprobe's. Returns 404
    for an unknown or expired number."""
    sink = io.StringIO()
    compared: list[Row] = list(COMPARISON.find(service, number).items)
    if msprobe:
        comparison_export.write_msprobe_csv(compared, sink)
    else:
        comparison_export.write_csv(compared, sink)
    headers = {"Content-Disposition": "attachment; filename=comparison.csv"}
    content = sink.getvalue().encode("utf-8", "backslashreplace")  # names may not be valid Unicode
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/compare/{number}/xlsx", response_class=Response)
def workbook(service: CurrentService, number: int) -> Response:
    """Return a comparison as an Excel workbook with msprobe's columns: all rows so far. Returns 404 for an
    unknown or expired number, and 503 if the server lacks the package for Excel."""
    if not comparison_export.has_xlsx():
        text = "Excel files need a package on the server: pip install 'mindinsight[excel]'."
        raise ApiError(503, "no_excel", text)
    sink = io.BytesIO()
    comparison_export.write_msprobe_xlsx(list(COMPARISON.find(service, number).items), sink)
    headers = {"Content-Disposition": "attachment; filename=comparison.xlsx"}
    return Response(sink.getvalue(), media_type=_XLSX, headers=headers)


def errors_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the largest relative error of the outputs of each operator of the target, by its name, without
    operators whose error is unknown."""
    errors: dict[str, float] = {}
    for row in list(rows):
        entry, error = row.compared.pair.target, row_error(row)
        if entry is not None and entry.direction == "output" and error is not None:
            errors[entry.operator] = max(errors.get(entry.operator, 0.0), error)
    return errors


def _side(service: Service, body: ComparedStep) -> Side:
    dump = open_known_dump(service, body.dump)
    if body.rank not in dump.ranks or body.step not in dump.steps(body.rank):
        raise unknown_step(body.rank, body.step)
    return Side(dump, body.rank, body.step, body.graph)


def _passes(row: Row, query: str, only: str, tolerance: Tolerance) -> bool:
    pair = row.compared.pair
    names = [tensor.operator for tensor in (pair.target, pair.reference) if tensor]
    if query and not has_words(query, (*names, parameter_name(row))):
        return False
    return not only or state(row, tolerance) == only


def _worst_first(rows: list[Row], sort: str) -> list[Row]:
    """Return rows sorted by a measure, worst first, and rows without that measure last."""
    larger_is_better = sort in ("cosine", "one_thousandth")
    measured = [
        (value, i) for i, row in enumerate(rows) if (value := comparison_export.fields(row)[sort]) is not None
    ]
    with_value = {i for _, i in measured}
    ordered = sorted(measured, key=lambda pair: pair[0] if larger_is_better else -pair[0])
    return [rows[i] for _, i in ordered] + [row for i, row in enumerate(rows) if i not in with_value]


def _position(selected: Sequence[Row], outcome: Outcome) -> int:
    """Return the index of the first row to show, shortly before the first difference, or 0 if that is
    filtered out."""
    first = {id(row) for row in outcome.first}
    return max(0, next((i for i, row in enumerate(selected) if id(row) in first), 0) - _BEFORE)


def row_json(row: Row, tolerance: Tolerance) -> dict[str, Any]:
    """Return a row with the tensors of both sides, its parameter, state and codes."""
    pair = row.compared.pair
    tensors = {"target_tensor": _tensor_json(pair.target), "reference_tensor": _tensor_json(pair.reference)}
    damage = damage_json(row.compared.damage)
    verdict = {
        "parameter": parameter_name(row),
        "codes": ("rounding",) if agrees_by(row, tolerance, "rounding") else row.codes,
        "state": state(row, tolerance),
        "damage": damage,
    }
    return {**non_finite_as_text(comparison_export.fields(row, tolerance)), **tensors, **verdict}


def _tensor_json(entry: TensorEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    names = ("graph", "operator", "recorded", "type", "direction", "slot", "sequence")
    return {name: getattr(entry, name) for name in names}
