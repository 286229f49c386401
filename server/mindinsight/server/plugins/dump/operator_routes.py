"""Routes of operators: the tree of scopes, and one operator with its tensors and neighbours."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug.examine import TensorResult, is_non_finite, operator_key
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.operator_links import Link, content_links, graph_links, inputs_of, outputs_of
from mindinsight.server.debug.recorded_statistics import find_disagreements
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.dump_requests import (
    StepListing,
    damage_json,
    entry_json,
    operator_json,
    recorded_json,
)

router = APIRouter(route_class=DumpRoute)

_MAX_CHILDREN = 2000  # of one scope in a response
_MAX_DAMAGE = 20  # damaged files listed above the tree


@router.get("/tree")
def tree(listing: StepListing, scope: Annotated[list[str] | None, Query()] = None) -> dict[str, Any]:
    """Return the children of a scope, or of the root, in execution order.

    `lost` counts the operators below each child that are known to have non-finite values.
    """
    done = listing.done  # read first, so that everything read after it is complete
    path = tuple(scope or ())
    not_finite_keys = {operator_key(result.entry) for result in filter(is_non_finite, list(listing.results))}
    children: dict[tuple[bool, str], dict[str, Any]] = {}
    for key, operator in listing.operators.items():
        if operator.scope[: len(path)] != path:
            continue
        relative = operator.scope[len(path) :]
        name = relative[0] if relative else f"{operator.graph}:{operator.recorded}"
        child = children.setdefault((bool(relative), name), _child_json(operator, relative))
        child["operators"] += 1
        child["lost"] += key in not_finite_keys
    rows = list(children.values())
    return {
        "scope": path,
        "done": done,
        "children": rows[:_MAX_CHILDREN],
        "left_out": max(0, len(rows) - _MAX_CHILDREN),
        "damage": [] if path else [damage_json(damage) for damage in listing.operator_damage[:_MAX_DAMAGE]],
    }


@router.get("/operator")
def operator(
    listing: StepListing, recorded: Annotated[str, Query(description="name as recorded")], graph: str = ""
) -> dict[str, Any]:
    """Return one operator: its call stacks, its tensors, and the operators before and after it.

    `certain` links come from the graph, others are inferred from tensors with equal contents.
    """
    operator_record = listing.operators.get((graph, recorded))
    entries = [entry for entry in listing.entries if (entry.graph, entry.recorded) == (graph, recorded)]
    if operator_record is None and not entries:
        raise ApiError(404, "unknown_operator", f"There is no operator {recorded!r}.", operator=recorded)
    done = listing.done  # read before the results, so that none is added after it
    links = graph_links(listed for listed in listing.operators.values() if listed.graph == graph)
    if not any(recorded in (link.source, link.target) for link in links):
        links = content_links(listing.results)
    facts = (
        operator_json(operator_record)
        if operator_record
        else {"graph": graph, "operator": entries[0].operator, "recorded": recorded}
    )
    return {
        **facts,
        "inputs": [_link_json(listing, graph, link, link.source) for link in inputs_of(recorded, links)],
        "outputs": [_link_json(listing, graph, link, link.target) for link in outputs_of(recorded, links)],
        "tensors": [_tensor_json(entry, listing.result(entry)) for entry in entries],
        "done": done,
    }


def _child_json(operator: Operator, relative: tuple[str, ...]) -> dict[str, Any]:
    leaf = {} if relative else {"recorded": operator.recorded, "graph": operator.graph, "type": operator.type}
    name = relative[0] if relative else operator.name.rpartition("/")[2]
    return {"name": name, "scope": bool(relative), "operators": 0, "lost": 0, **leaf}


def _tensor_json(entry: TensorEntry, result: TensorResult | None) -> dict[str, Any]:
    """Return a tensor with its recorded statistics.

    `disagrees` lists the statistics that its data contradicts.
    """
    disagreements: tuple[str, ...] = ()
    statistics = result.measurement.statistics if result and result.measurement else None
    if isinstance(statistics, Statistics) and entry.statistics:
        disagreements = find_disagreements(statistics, entry.statistics)
    return {**entry_json(entry, result), "said": recorded_json(entry.statistics), "disagrees": disagreements}


def _link_json(listing: Listing, graph: str, link: Link, other: str) -> dict[str, Any]:
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
