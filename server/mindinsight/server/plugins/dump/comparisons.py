"""Two steps, ranks or dumps beside each other, row by row as they are compared."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.compare.comparison import Row, Side, compare_sides
from mindinsight.server.debug.compare.divergence import (
    COSINE,
    RELATIVE,
    Tolerance,
    beyond,
    first_divergence,
)
from mindinsight.server.debug.compare.report import fields, write_csv
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import damage_facts
from mindinsight.server.plugins.dump.lookup import Sessions, Uses, opened

router = APIRouter(route_class=DumpRoute)


class ComparedStep(BaseModel):
    dump: str
    rank: int = Field(0, ge=0)
    step: int = Field(0, ge=0)
    graph: str | None = None


class Comparison(BaseModel):
    """The dump in question and the one that is right. ``names`` maps operators of the first to the second."""

    target: ComparedStep
    reference: ComparedStep
    names: dict[str, str] = Field(default_factory=dict)


@router.post("/compare")
def start_comparison(service: Uses, sessions: Sessions, asked: Comparison) -> dict[str, int]:
    """Begin to compare; ask for the rows by the number that is answered."""
    ours, theirs = (_side(service, place) for place in (asked.target, asked.reference))
    names, executor = asked.names, service.executor
    work = BackgroundJob(lambda: compare_sides(ours, theirs, names, executor), len(ours.entries()))
    return {"comparison": sessions.add(work)}


@router.get("/compare/{number}")
def rows(
    sessions: Sessions,
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
) -> dict[str, Any]:
    """Rows compared by now in the order the target ran, or worst first; and where the two part."""
    found = _comparison(sessions, number)
    compared: list[Row] = list(found.items)
    tolerance = Tolerance(cosine, relative)
    chosen = [row for row in compared if _fits(row, q.lower(), only, tolerance)]
    if sort != "sequence":
        chosen = _worst_first(chosen, sort)
    return {
        "done": found.done,
        "error": found.error,
        "all": found.total,
        "compared": len(compared),
        "total": len(chosen),
        "levels": {
            level: sum(row.level == level for row in compared) for level in ("pass", "warning", "error")
        },
        "beyond": sum(beyond(row, tolerance) is True for row in compared),
        "divergence": _divergence(compared, tolerance),
        "rows": [_row(row, tolerance) for row in chosen[offset : offset + limit]],
    }


@router.get("/compare/{number}/csv", response_class=Response)
def report(sessions: Sessions, number: int) -> Response:
    """The whole report, as far as it has come."""
    sink = io.StringIO()
    write_csv(list(_comparison(sessions, number).items), sink)
    headers = {"Content-Disposition": "attachment; filename=comparison.csv"}
    content = sink.getvalue().encode("utf-8", "backslashreplace")  # names need not be text
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def errors_of(rows: Sequence[Row]) -> dict[str, float]:
    """How far the outputs of each operator of the target are off, relative to the reference."""
    errors: dict[str, float] = {}
    for row in list(rows):
        entry, measures = row.compared.pair.target, row.compared.measures
        error = measures.relative_distance if measures else row.compared.norm_error
        if measures and measures.apart:
            error = math.inf
        if entry is not None and entry.direction == "output" and error is not None:
            errors[entry.operator] = max(errors.get(entry.operator, 0.0), error)
    return errors


def _side(service: Uses, place: ComparedStep) -> Side:
    side = Side(opened(service, place.dump), place.rank, place.step, place.graph)
    if not side.entries():
        raise ApiError(
            404,
            "unknown_dump_step",
            f"No tensors at rank {place.rank}, step {place.step}.",
            rank=place.rank,
            step=place.step,
        )
    return side


def _comparison(sessions: Sessions, number: int) -> BackgroundJob[Row]:
    found = sessions.find(number, BackgroundJob)
    if found is None:
        raise ApiError(404, "unknown_comparison", f"There is no comparison {number} any more.", number=number)
    return found


def _fits(row: Row, words: str, only: str, tolerance: Tolerance) -> bool:
    pair = row.compared.pair
    if words and not any(words in each.operator.lower() for each in (pair.target, pair.reference) if each):
        return False
    if only == "alone":
        return pair.target is None or pair.reference is None
    if only == "beyond":
        return beyond(row, tolerance) is True
    return not only or row.level == only


def _worst_first(rows: list[Row], sort: str) -> list[Row]:
    """Rows by a measure; least first where a large one is good, and those without it last."""
    good = sort in ("cosine", "one_thousandth")
    measured = [(value, i) for i, row in enumerate(rows) if (value := fields(row)[sort]) is not None]
    taken = {i for _, i in measured}
    ordered = sorted(measured, key=lambda each: each[0] if good else -each[0])
    return [rows[i] for _, i in ordered] + [row for i, row in enumerate(rows) if i not in taken]


def _divergence(compared: list[Row], tolerance: Tolerance) -> dict[str, Any] | None:
    found = first_divergence(compared, tolerance)
    if found is None:
        return None
    return {
        "kind": found.kind,
        "tensors": [_tensor(row.compared.pair.target) for row in found.rows],
    }


def _row(row: Row, tolerance: Tolerance) -> dict[str, Any]:
    pair = row.compared.pair
    tensors = {"target_tensor": _tensor(pair.target), "reference_tensor": _tensor(pair.reference)}
    damage = damage_facts(row.compared.damage)
    judged = {"codes": row.codes, "beyond": beyond(row, tolerance), "damage": damage}
    return {**non_finite_as_text(fields(row)), **tensors, **judged}


def _tensor(entry: TensorEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    names = ("graph", "operator", "recorded", "type", "direction", "slot", "sequence")
    return {name: getattr(entry, name) for name in names}
