"""Finding faults: the first operator that broke, watchpoints with their hits, weights and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.conditions import NO_PREVIOUS, conditions
from mindinsight.server.debug.fault import Fault, find_faults, operator_of
from mindinsight.server.debug.limits import checked_limits
from mindinsight.server.debug.preset import common_faults
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.trends import trends
from mindinsight.server.debug.watchpoints import Hit, Watchpoint, check
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import list_tensors
from mindinsight.server.formats.dumps.types import Dump
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import damage_facts, entry_facts, operator_facts
from mindinsight.server.plugins.dump.lookup import DumpId, Rank, Sessions, Uses, cache_of, opened

router = APIRouter(route_class=DumpRoute)

Some = Annotated[list[int] | None, Query(max_length=2000)]

_MOST_WATCHPOINTS: Final = 100


class Watch(BaseModel):
    """A condition with its limits and where it looks; empty lists mean everywhere."""

    condition: str
    limits: dict[str, float | None] = Field(default_factory=dict)
    operators: list[str] = Field(default_factory=list, max_length=1000)
    ranks: list[int] = Field(default_factory=list)
    steps: list[int] = Field(default_factory=list)


class Check(BaseModel):
    """Watchpoints to check; without any, the common faults."""

    dump: str
    watchpoints: list[Watch] = Field(default_factory=list, max_length=_MOST_WATCHPOINTS)
    ranks: list[int] = Field(default_factory=list)
    steps: list[int] = Field(default_factory=list)


@router.get("/conditions")
def known_conditions() -> dict[str, Any]:
    """What can be watched for, with the parameters to build a form from; and the common faults."""
    rows = [
        {
            "id": each.id,
            "abbreviation": each.abbreviation,
            "target": each.target,
            "parameters": [
                {
                    "name": one.name,
                    "default": one.default,
                    "low": non_finite_as_text(one.low),
                    "high": non_finite_as_text(one.high),
                    "checks": one.checks,
                    "requires": one.requires,
                }
                for one in each.parameters
            ],
        }
        for each in conditions().values()
    ]
    preset = [{"condition": w.condition, "limits": w.limits, "types": w.types} for w in common_faults()]
    return {"conditions": rows, "common": preset}


@router.get("/fault")
def fault(
    service: Uses, dump: DumpId, rank: Some = None, step: Some = None, all: bool = False
) -> dict[str, Any]:
    """The first fault over steps and ranks (with ``all``, that of every step), with its operator's source.

    ``coverage`` counts what was looked at and what could not be judged: without a fault, ``judged`` tensors
    are finite and nothing is known of the others. ``key`` and ``words`` are a text of the locale files.
    """
    found = opened(service, dump)
    report = find_faults(found, rank, step, service.executor, cache_of(service), every=all)
    return {
        "faults": [_fault(found, each) for each in report.faults],
        "coverage": asdict(report.coverage) | {"judged": report.coverage.judged},
        "sentences": [{"key": key, "words": words} for key, words in report.coverage.sentences],
        "damage": [damage_facts(each) for each in report.damage],
    }


@router.post("/check")
def start_check(service: Uses, sessions: Sessions, asked: Check) -> dict[str, int]:
    """Begin to check; ask for the hits by the number that is answered."""
    dump = opened(service, asked.dump)
    watchpoints = _watchpoints(asked)
    executor, cache = service.executor, cache_of(service)
    return {"check": sessions.add(BackgroundJob(lambda: _judged(dump, watchpoints, executor, cache)))}


@router.get("/check/{number}")
def hits(
    sessions: Sessions,
    number: int,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> dict[str, Any]:
    """Hits found by now, in the order things ran. ``unjudged`` tensors were not finite or had no values."""
    found = sessions.find(number, BackgroundJob)
    if found is None:
        raise ApiError(404, "unknown_check", f"There is no check {number} any more.", number=number)
    judged = list(found.items)
    caught = [hit for hit in judged if hit.verdict.hit]
    return {
        "done": found.done,
        "error": found.error,
        "total": len(caught),
        "unjudged": sum(hit.verdict.error not in (0, NO_PREVIOUS) for hit in judged),
        "hits": [_hit(hit) for hit in caught[offset : offset + limit]],
    }


@router.get("/trends")
def weights_and_gradients(
    service: Uses,
    dump: DumpId,
    rank: Rank,
    step: Annotated[int, Query(ge=0)],
    before: Annotated[int, Query(ge=0)],
) -> dict[str, Any]:
    """Weights and gradients of a step against those of an earlier one."""
    found = opened(service, dump)
    now, then = (list_tensors(found, rank, each).items for each in (step, before))
    rows = [
        {
            **{
                name: getattr(each.entry, name)
                for name in ("graph", "operator", "recorded", "direction", "slot")
            },
            "kind": each.kind,
            "before": non_finite_as_text(each.before),
            "now": non_finite_as_text(each.now),
            "ratio": non_finite_as_text(each.ratio),
            "state": each.state,
        }
        for each in trends(then, now, service.executor, cache_of(service))
    ]
    return {"trends": rows}


def _judged(
    dump: Dump, watchpoints: list[Watchpoint], executor: Executor, cache: StatisticsCache | None
) -> Iterator[Hit]:
    return check(dump, watchpoints, executor, cache)


def _watchpoints(asked: Check) -> list[Watchpoint]:
    ranks, steps = tuple(asked.ranks), tuple(asked.steps)
    if not asked.watchpoints:
        return [
            Watchpoint(each.id, each.condition, each.limits, types=each.types, ranks=ranks, steps=steps)
            for each in common_faults()
        ]
    return [_watchpoint(number, each, ranks, steps) for number, each in enumerate(asked.watchpoints, 1)]


def _watchpoint(number: int, watch: Watch, ranks: tuple[int, ...], steps: tuple[int, ...]) -> Watchpoint:
    try:
        limits = checked_limits(watch.condition, watch.limits)
    except ValueError as error:
        raise ApiError(422, "bad_condition", str(error), why=str(error)) from None
    places = tuple(watch.ranks) or ranks, tuple(watch.steps) or steps
    return Watchpoint(number, watch.condition, limits, tuple(watch.operators), (), *places)


def _fault(dump: Dump, fault: Fault) -> dict[str, Any]:
    operator = operator_of(dump, fault)
    return {
        "kind": fault.kind,
        "key": fault.key,
        "words": fault.words,
        "rank": fault.rank,
        "step": fault.step,
        "tensors": [entry_facts(each.entry, each) for each in fault.answers],
        "operator": operator_facts(operator) if operator else None,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "watchpoint": hit.watchpoint.id,
        "condition": hit.watchpoint.condition,
        "limits": hit.watchpoint.limits,
        "rank": hit.entry.rank,
        "step": hit.entry.step,
        "tensor": entry_facts(hit.entry, hit.answer),
        "findings": [non_finite_as_text(finding._asdict()) for finding in hit.verdict.findings],
    }
