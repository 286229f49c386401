"""Routes of fault search: the first fault, the chain of operators to it, watchpoints and trends."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mindinsight.server.claims import Claim
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.debug import fault as faults
from mindinsight.server.debug import watchpoints
from mindinsight.server.debug.check_findings import group_hits, operator_findings
from mindinsight.server.debug.conditions import NO_PREVIOUS, conditions
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.operator_links import Link, content_links, graph_links
from mindinsight.server.debug.operator_tree import operator_tree
from mindinsight.server.debug.rank_divergence import Divergence, find_divergence, reported_claims
from mindinsight.server.debug.trends import trends
from mindinsight.server.debug.value_chain import ChainLink, ValueChain, cut_out
from mindinsight.server.debug.watchpoints import Hit, Tally, Watchpoint
from mindinsight.server.errors import ApiError, ValueProblem
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, Operator
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump import dump_requests
from mindinsight.server.plugins.dump.dump_requests import DumpId, Rank, Step, StepListing, open_known_dump

router = APIRouter(route_class=DumpRoute)

Numbers = Annotated[list[int] | None, Query(max_length=2000)]

_TREND_TENSOR: Final = ("graph", "operator", "recorded", "direction", "slot")
_TREND_FIELDS: Final = ("kind", "before", "now", "ratio", "state")
_PARAMETER_FIELDS: Final = ("name", "default", "low", "high", "checks", "requires")
_MAX_WATCHPOINTS: Final = 100  # of one check, which evaluates all of them for each tensor


class Watch(BaseModel):
    """Watchpoint of a request: a condition, its limits and its scope. An empty list does not restrict."""

    condition: str
    limits: dict[str, float | None] = Field(default_factory=dict)
    operators: list[str] = Field(default_factory=list, max_length=1000)
    ranks: list[int] = Field(default_factory=list)
    steps: list[int] = Field(default_factory=list)


class Check(BaseModel):
    """Body of a check request: a dump, watchpoints, and the ranks and steps to check, all if empty.

    Without watchpoints, those for common faults are used.
    """

    dump: str
    watchpoints: list[Watch] = Field(default_factory=list, max_length=_MAX_WATCHPOINTS)
    ranks: list[int] = Field(default_factory=list)
    steps: list[int] = Field(default_factory=list)


@router.get("/conditions")
def known_conditions() -> dict[str, Any]:
    """Return all conditions with their parameters as `conditions`, and the watchpoints for common faults as
    `common`."""
    rows = [
        {
            **{name: getattr(condition, name) for name in ("id", "abbreviation", "target")},
            "parameters": [
                {name: non_finite_as_text(getattr(parameter, name)) for name in _PARAMETER_FIELDS}
                for parameter in condition.parameters
            ],
        }
        for condition in conditions().values()
    ]
    names = ("condition", "limits", "types")
    preset = [{name: getattr(rule, name) for name in names} for rule in watchpoints.common_faults()]
    return {"conditions": rows, "common": preset}


@router.get("/fault")
def fault(
    service: CurrentService, dump: DumpId, rank: Numbers = None, step: Numbers = None, all: bool = False
) -> dict[str, Any]:
    """Return the first fault over steps and ranks, or with `all` those of every step, with the operator's
    source, as `faults`, [] if there is none. Returns 404 for an unknown dump, rank or step.

    Without a fault, `divergence` is the first operator with different results on ranks that should agree.
    `coverage` counts the tensors searched and those that could not be judged: without a fault, `judged`
    tensors are finite and the others are unknown. `claims` states all of this in sentences.
    """
    opened = open_known_dump(service, dump)
    dump_requests.require_place(opened, rank, step)
    *_, answer = _search(service, opened, rank, step, every=all)
    assert isinstance(answer, dict)
    return answer


class FaultSearch(BaseModel):
    """Body of a request that searches the first fault. Without ranks and steps, all are searched."""

    dump: str
    rank: list[int] | None = Field(None, max_length=2000)
    step: list[int] | None = Field(None, max_length=2000)


_Found: TypeAlias = "faults.SearchedStep | dict[str, Any]"


def _search(
    service: Service, dump: Dump, rank: Sequence[int] | None, step: Sequence[int] | None, every: bool = False
) -> Iterator[_Found]:
    """Yield each step before it is searched for faults, and at the end the result of the search."""
    executor, cache = service.executor, dump_requests.cache_of(service)
    for item in faults.search_faults(dump, rank, step, executor, cache, every):
        if isinstance(item, faults.SearchedStep):
            yield item
        else:
            divergence = None if item.faults else find_divergence(dump, step, executor, cache)
            differing = (
                divergence.claims if divergence else () if item.faults else reported_claims(dump, step)
            )
            yield _answer(dump, item, divergence, differing)


def _answer(
    dump: Dump, report: faults.Report, divergence: Divergence | None, differing: Sequence[Claim]
) -> dict[str, Any]:
    searched = () if report.no_overflow else (faults.SEARCHED,)
    claims = (*report.claims, *differing, *searched)
    return {
        "divergence": divergence and _divergence_json(divergence),
        "faults": [_fault_json(dump, fault) for fault in report.faults],
        "coverage": asdict(report.coverage) | {"judged": report.coverage.judged},
        "claims": [claim.as_json() for claim in claims],
        "damage": [dump_requests.damage_json(damage) for damage in report.damage],
    }


def _fault_search(service: Service, body: FaultSearch) -> BackgroundJob[_Found]:
    dump = open_known_dump(service, body.dump)
    dump_requests.require_place(dump, body.rank, body.step)
    return BackgroundJob(service.jobs, lambda: _search(service, dump, body.rank, body.step))


FAULT_SEARCH: Final = NumberedJob("fault_search", FaultSearch, _fault_search)


@router.post("/fault")
def start_fault_search(service: CurrentService, body: FaultSearch) -> dict[str, int]:
    """Start a search of the first fault in the background, and return its number as `search`. Returns 404 for
    an unknown dump, rank or step."""
    return {"search": FAULT_SEARCH.start(service, body)}


@router.get("/fault/{number}")
def fault_search(service: CurrentService, number: int) -> dict[str, Any]:
    """Return the progress of a search, and what `/fault` returns as `answer` once it is `done`. Returns
    404 for an unknown or expired number. `searching` is the step that is searched now: `rank`, `step` and
    its `position` among `count` steps. `error` says why there is no answer."""
    job = FAULT_SEARCH.find(service, number)
    done = job.done  # read before the items, so that none is added after it
    last = job.items[-1] if job.items else None
    return {
        "done": done,
        "error": job.error,
        "searching": asdict(last) if isinstance(last, faults.SearchedStep) else None,
        "answer": last if isinstance(last, dict) else None,
    }


def _check(service: Service, body: Check) -> BackgroundJob[Hit | Tally]:
    dump, watched = open_known_dump(service, body.dump), _watchpoints(body)
    for watchpoint in watched:
        dump_requests.require_place(dump, watchpoint.ranks, watchpoint.steps)
    executor, cache = service.executor, dump_requests.cache_of(service)
    return BackgroundJob(service.jobs, lambda: watchpoints.check_and_count(dump, watched, executor, cache))


CHECK: Final = NumberedJob("check", Check, _check)


@router.post("/check")
def start_check(service: CurrentService, body: Check) -> dict[str, int]:
    """Start a check in the background, and return its number as `check`. Returns 404 for an unknown dump,
    rank or step, and 422 for an invalid condition."""
    return {"check": CHECK.start(service, body)}


@router.get("/check/{number}")
def hits(
    service: CurrentService,
    number: int,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> dict[str, Any]:
    """Return a page of the `hits` of a check so far, in execution order. Returns 404 for an unknown or
    expired number.

    `findings` are the hits by condition and operator, the worst first, without those of views of a tensor
    that has a hit, each with the figures of its worst step. They are the first `limit`, and `findings_total`
    is the number of all. `unjudged` counts tensors with an error other than a missing previous step, `unread`
    those that could not be read. `claims` and `unread` are known once the check is `done`.
    """
    job = CHECK.find(service, number)
    done = job.done  # read before the items, so that none is added after it
    judgements = [item for item in job.items if isinstance(item, Hit)]
    tally = next((item for item in job.items if isinstance(item, Tally)), None)  # the last item
    hit_rows = [hit for hit in judgements if hit.verdict.hit]
    return {
        "done": done,
        "error": job.error,
        "total": len(hit_rows),
        "claims": []
        if tally is None
        else [claim.as_json() for claim in watchpoints.check_claims(judgements, tally)],
        "unread": tally.unread if tally else 0,
        "unjudged": sum(hit.verdict.error not in (0, NO_PREVIOUS) for hit in judgements),
        "hits": [_hit_json(hit) for hit in hit_rows[offset : offset + limit]],
        **_findings_json(hit_rows, limit),
    }


@router.get("/trends")
def weights_and_gradients(
    service: CurrentService, dump: DumpId, rank: Rank, step: Step, before: Step
) -> dict[str, Any]:
    """Return the trends of the weights and gradients that both of the steps `before` and `step` have. Returns
    404 for an unknown dump, rank or step.

    `before` and `now` of a trend are mean magnitudes. `ratio` is for weights the mean change relative to
    `before`, and for gradients `now` relative to `before`. What is unknown is null.
    """
    opened = open_known_dump(service, dump)
    dump_requests.require_place(opened, [rank], [step, before])
    now, earlier = (list_tensors(opened, rank, number).items for number in (step, before))
    operators = list_operators(opened, rank, step).items
    rows = [
        {
            **{name: getattr(trend.entry, name) for name in _TREND_TENSOR},
            **{name: non_finite_as_text(getattr(trend, name)) for name in _TREND_FIELDS},
        }
        for trend in trends(earlier, now, service.executor, dump_requests.cache_of(service), operators)
    ]
    return {"trends": rows}


def _watchpoints(body: Check) -> list[Watchpoint]:
    ranks, steps = tuple(body.ranks), tuple(body.steps)
    if not body.watchpoints:
        return [replace(watch, ranks=ranks, steps=steps) for watch in watchpoints.common_faults()]
    return [_watchpoint(number, watch, ranks, steps) for number, watch in enumerate(body.watchpoints, 1)]


def _watchpoint(number: int, body: Watch, ranks: tuple[int, ...], steps: tuple[int, ...]) -> Watchpoint:
    try:
        limits = watchpoints.checked_limits(body.condition, body.limits)
    except ValueProblem as error:
        raise ApiError(422, "bad_condition", str(error), error.key, **error.words) from None
    locations = tuple(body.ranks) or ranks, tuple(body.steps) or steps
    return Watchpoint(number, body.condition, limits, tuple(body.operators), (), *locations)


def _fault_json(dump: Dump, fault: faults.Fault) -> dict[str, Any]:
    operator = faults.faulty_operator(fault)
    explanation = explain(dump, fault)
    return {
        "kind": fault.kind,
        "claims": [
            claim.as_json() for claim in (*fault.claims, *(explanation.claims if explanation else ()))
        ],
        "rank": fault.rank,
        "step": fault.step,
        "tensors": [dump_requests.entry_json(result.entry, result) for result in fault.results],
        "operator": dump_requests.operator_json(operator) if operator and fault.is_located else None,
        "explanation": explanation and {"reason": explanation.reason, "index": list(explanation.index)},
    }


def _divergence_json(divergence: Divergence) -> dict[str, Any]:
    return {
        "claims": [claim.as_json() for claim in divergence.claims],
        "rank": divergence.entry.rank,
        "step": divergence.step,
        "tensor": dump_requests.entry_json(divergence.entry, None),
        "operator": dump_requests.operator_json(divergence.operator) if divergence.operator else None,
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "watchpoint": hit.watchpoint.id,
        "condition": hit.watchpoint.condition,
        "limits": hit.watchpoint.limits,
        "rank": hit.entry.rank,
        "step": hit.entry.step,
        "tensor": dump_requests.entry_json(hit.entry, hit.result),
        "findings": [non_finite_as_text(finding._asdict()) for finding in hit.verdict.findings],
    }


def _findings_json(hit_rows: Sequence[Hit], limit: int) -> dict[str, Any]:
    rows = operator_findings(group_hits(hit_rows))
    return {
        "findings_total": len(rows),
        "findings": [
            _hit_json(findings[0].worst_hit)
            | {
                "kind": findings[0].kind,
                "ranks": findings[0].ranks,
                "steps": findings[0].steps,
                "slots": [
                    {"direction": finding.hits[0].entry.direction, "slot": finding.hits[0].entry.slot}
                    for finding in findings
                ],
            }
            for findings in rows[:limit]
        ],
    }


_MOST_DRAWN: Final = 7  # links of the chain in the drawing


@router.get("/chain")
def chain(
    listing: StepListing,
    operator: Annotated[str, Query(description="name of the operator as recorded")],
    graph: str = "",
    source: Annotated[str, Query(description="full name of the input to follow first")] = "",
) -> dict[str, Any]:
    """Return the chain from an operator back to a weight or the batch, and a drawing of the graph around it.

    Each link has the largest tensor that its operator produced. A `late` tensor was recorded after it was
    used. The chain ends, with a claim, where the next operator received other values. If the dump has no
    graph, links are inferred from tensors of equal content. These links and the choice of inputs are final
    once `done`.
    """
    done = listing.done  # read first, so that everything read after it is complete
    operators = {recorded: known for (of, recorded), known in listing.operators.items() if of == graph}
    listed = [known for known in listing.listed_operators if known.graph == graph]
    links = graph_links(listed)
    certain = bool(links)
    if not certain:
        links = content_links(result for result in listing.results if result.entry.graph == graph)
    entries = [entry for entry in listing.entries if entry.graph == graph]
    chain_links = ValueChain(listed, entries, links, listing.result).back_from(operator, source)
    return {
        "done": done,
        "certain": certain,
        "chain": [_link_json(link, operators) for link in chain_links],
        "picture": _picture(listing, chain_links, operators, links),
    }


def _link_json(link: ChainLink, operators: dict[str, Operator]) -> dict[str, Any]:
    return {
        "operator": link.name,
        "recorded": link.recorded,
        "type": link.type,
        "carrier": link.carrier,
        "source": dump_requests.frame_json(faults.source_frame(operators.get(link.recorded))),
        "late": link.is_late,
        "claims": [claim.as_json() for claim in link.claims],
        "tensor": dump_requests.entry_json(link.entry, link.result) if link.entry else None,
    }


def _picture(
    listing: Listing, chain_links: list[ChainLink], operators: dict[str, Operator], links: list[Link]
) -> dict[str, Any] | None:
    """Return a drawing of the graph around the first operator of a chain, or None if it cannot be drawn.
    `place` of a box is its position in the chain."""
    shown, joined = cut_out(chain_links, operators, links, _MOST_DRAWN)
    try:
        tree = operator_tree(shown, joined)
    except UnreadableError:
        return None
    scopes = [index for index in range(len(tree.tree.paths)) if tree.tree.nodes[index] < 0]
    drawing = drawing_json(tree.tree, draw(tree.tree, scopes))
    places = {link.recorded or link.name: position for position, link in enumerate(chain_links)}
    for box in drawing["boxes"]:
        boxed = tree.operator_at(box["id"])
        box["recorded"] = boxed.recorded if boxed and boxed.recorded in operators else None
        box["place"] = places.get(boxed.recorded) if boxed else None
    return drawing
