"""Operators: the tree of their scopes, one with everything around it, and their numbers for a graph."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from mindinsight.server.compute.statistics import Statistics
from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.fault import not_finite
from mindinsight.server.debug.fault_search import operator_key
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.neighbours import Link, content_links, graph_links, inputs_of, outputs_of
from mindinsight.server.debug.recorded import disagreeing
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps.types import Operator, TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import damage_facts, entry_facts, operator_facts, recorded_facts
from mindinsight.server.plugins.dump.lookup import StepListing

router = APIRouter(route_class=DumpRoute)

_MOST_CHILDREN = 2000
_MOST_DAMAGE = 20  # files named above the tree


@router.get("/tree")
def tree(listing: StepListing, scope: Annotated[list[str] | None, Query()] = None) -> dict[str, Any]:
    """What lies directly in a scope, in execution order, with how much is not finite below, as far as known.

    Without a scope: at the top.
    """
    done = listing.done  # before looking: what is known after this is complete
    path = tuple(scope or ())
    lost = _lost(listing)
    children: dict[tuple[bool, str], dict[str, Any]] = {}
    for key, operator in listing.operators.items():
        if operator.scope[: len(path)] != path:
            continue
        inner = operator.scope[len(path) :]
        name = inner[0] if inner else f"{operator.graph}:{operator.recorded}"
        child = children.setdefault((bool(inner), name), _child(operator, inner))
        child["operators"] += 1
        child["lost"] += key in lost
    rows = list(children.values())
    return {
        "scope": path,
        "done": done,
        "children": rows[:_MOST_CHILDREN],
        "left_out": max(0, len(rows) - _MOST_CHILDREN),
        "damage": [] if path else [damage_facts(each) for each in listing.operator_damage[:_MOST_DAMAGE]],
    }


@router.get("/operator")
def operator(
    listing: StepListing, recorded: Annotated[str, Query(description="name as recorded")], graph: str = ""
) -> dict[str, Any]:
    """One operator: source lines, tensors, and the operators before and after it.

    ``certain`` links are of the graph; the others were concluded from equal contents of tensors.
    """
    found = listing.operators.get((graph, recorded))
    entries = [entry for entry in listing.entries if (entry.graph, entry.recorded) == (graph, recorded)]
    if found is None and not entries:
        raise ApiError(404, "unknown_operator", f"There is no operator {recorded!r}.", operator=recorded)
    links = graph_links(each for each in listing.operators.values() if each.graph == graph)
    if not any(recorded in (link.source, link.target) for link in links):
        links = content_links(listing.answers)
    facts = (
        operator_facts(found)
        if found
        else {"graph": graph, "operator": entries[0].operator, "recorded": recorded}
    )
    return {
        **facts,
        "inputs": [_link(listing, graph, link, link.source) for link in inputs_of(recorded, links)],
        "outputs": [_link(listing, graph, link, link.target) for link in outputs_of(recorded, links)],
        "tensors": [_tensor(entry, listing.answer(entry)) for entry in entries],
        "done": listing.done,
    }


def _child(operator: Operator, inner: tuple[str, ...]) -> dict[str, Any]:
    leaf = {} if inner else {"recorded": operator.recorded, "graph": operator.graph, "type": operator.type}
    name = inner[0] if inner else operator.name.rpartition("/")[2]
    return {"name": name, "scope": bool(inner), "operators": 0, "lost": 0, **leaf}


def _tensor(entry: TensorEntry, answer: Answer | None) -> dict[str, Any]:
    """A tensor beside what the dump itself says of it; ``disagrees`` names what is not so."""
    wrong: tuple[str, ...] = ()
    found = answer.measured.statistics if answer and answer.measured else None
    if isinstance(found, Statistics) and entry.statistics:
        wrong = disagreeing(found, entry.statistics)
    return {**entry_facts(entry, answer), "said": recorded_facts(entry.statistics), "disagrees": wrong}


def _lost(listing: Listing) -> set[tuple[str, str]]:
    """Operators with a tensor that is not finite, as far as it is known."""
    return {operator_key(answer.entry) for answer in filter(not_finite, list(listing.answers))}


def _link(listing: Listing, graph: str, link: Link, other: str) -> dict[str, Any]:
    operator = listing.operators.get((graph, other))
    return {
        "recorded": other,
        "operator": operator.name if operator else other,
        "type": operator.type if operator else "",
        "known": operator is not None,
        "certain": link.certain,
        "source_slot": link.source_slot,
        "target_slot": link.target_slot,
    }
