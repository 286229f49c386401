"""A graph coloured by what a dump of the same training found: routes that belong to graphs and to dumps."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.fault_search import operator_key
from mindinsight.server.debug.graph_overlay import SYMPTOMS, Overlay
from mindinsight.server.debug.operator_graph import share
from mindinsight.server.debug.operator_status import Symptom, counted, worst
from mindinsight.server.errors import ApiError
from mindinsight.server.graph.encoders.nodes import entry
from mindinsight.server.graph.scopes.tree import ROOT, Tree
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import entry_facts
from mindinsight.server.plugins.dump.lookup import Sessions, StepListing
from mindinsight.server.plugins.dump.tensors import Statistic
from mindinsight.server.plugins.graph.tree_cache import node_index, node_indices, tree_of
from mindinsight.server.types import Doubles

router = APIRouter(route_class=DumpRoute, prefix="/v2/graph/dump", tags=["graph"])

Colour: TypeAlias = Literal["symptoms"] | Statistic
Check = Annotated[
    int | None, Query(description="number of a check of this dump, whose hits are symptoms too")
]

_WORST: Final = 20  # operators listed of a scope


def overlay_of(tree: Annotated[Tree, Depends(tree_of)], listing: StepListing, sessions: Sessions) -> Overlay:
    """The graph that a request's parameters name, under the step of the dump that they name."""
    return sessions.get((tree, listing), Overlay, lambda: Overlay(tree, listing))


Laid = Annotated[Overlay, Depends(overlay_of)]


@router.get("")
def colours(
    laid: Laid,
    sessions: Sessions,
    colour: Colour = SYMPTOMS,
    shown: Annotated[str, Query(description="places of the boxes in the picture, with commas")] = "",
    check: Check = None,
) -> dict[str, Any]:
    """How boxes are coloured, and how many operators of the dump are in the graph.

    A scope has the worst ``symptom``, or the largest ``value``, inside; ``share`` is 0 to 1 among all known.
    Ask again until ``done``.
    """
    done = laid.listing.done and _checked(sessions, check)
    column = _column(laid, sessions, colour, check)
    indices = node_indices(laid.tree, shown)
    boxes = _by_symptom(laid, column, indices) if colour == SYMPTOMS else _by_size(laid, column, indices)
    return {
        "done": done,
        "tensors": len(laid.listing.entries),
        "measured": len(laid.listing.answers),
        "dumped": laid.joined.dumped,
        "found": laid.joined.found,
        "by_order": laid.joined.by_order,
        **boxes,
    }


@router.get("/node")
def node(
    laid: Laid,
    sessions: Sessions,
    node: Annotated[str, Query(description="path or place")],
    check: Check = None,
) -> dict[str, Any]:
    """The dumped tensors of an operator, or the operators of a scope that are not fine, worst first."""
    index = node_index(laid.tree, node)
    number = int(laid.tree.nodes[index])
    if number >= 0:
        return {"operators": _operators(laid, number), "worst": [], "total": 0, "done": laid.listing.done}
    column = _column(laid, sessions, SYMPTOMS, check)
    inside = np.arange(index, laid.tree.ends[index])
    ill = inside[column[inside] > Symptom.FINE]
    ill = ill[np.argsort(-column[ill], kind="stable")]
    rows = [{**entry(laid.tree, one), "symptom": _name(column[one])} for one in ill[:_WORST].tolist()]
    return {"operators": [], "worst": rows, "total": len(ill), "done": laid.listing.done}


@router.get("/outer")
def outer(laid: Laid, node: Annotated[int, Query(ge=0)]) -> dict[str, Any]:
    """The dumped tensors of a parameter."""
    return {"operators": _operators(laid, node), "worst": [], "total": 0, "done": laid.listing.done}


@router.get("/place")
def index(laid: Laid, recorded: str, graph: str = "") -> dict[str, int | None]:
    """Where an operator of the dump is in the graph: its place, or the number of its node for parameters."""
    found = laid.joined.nodes.get((graph, recorded))
    if found is None:
        raise ApiError(404, "not_in_graph", f"{recorded!r} is not in this graph.", operator=recorded)
    drawn = int(laid.tree.leaf_indices[found])
    return {"place": drawn, "outer": None} if drawn >= 0 else {"place": None, "outer": found}


def _checked(sessions: Sessions, check: int | None) -> bool:
    found = None if check is None else sessions.find(check, BackgroundJob)
    return found is None or found.done


def _column(laid: Overlay, sessions: Sessions, colour: Colour, check: int | None) -> Doubles:
    found = None if check is None else sessions.find(check, BackgroundJob)
    return laid.column(colour, list(found.items) if found else ())


def _by_symptom(laid: Overlay, column: Doubles, indices: list[int]) -> dict[str, Any]:
    boxes = [
        {
            "id": one,
            "symptom": _name(worst(laid.tree, column, one)),
            "counts": counted(laid.tree, column, one),
        }
        for one in indices
    ]
    faults = np.flatnonzero(column == Symptom.FAULT).tolist()
    counts = counted(laid.tree, column, ROOT)
    return {"boxes": boxes, "counts": counts, "fault": entry(laid.tree, faults[0]) if faults else None}


def _by_size(laid: Overlay, column: Doubles, indices: list[int]) -> dict[str, Any]:
    known = column[(column > 0) & (column < np.inf)]
    least, most = (float(known.min()), float(known.max())) if len(known) else (None, None)
    ends = [each for each in (least, most) if each is not None]
    sizes = {one: worst(laid.tree, column, one) for one in indices}
    boxes = [
        {"id": one, "value": non_finite_as_text(size), "share": None if size is None else share(size, ends)}
        for one, size in sizes.items()
    ]
    return {"boxes": boxes, "least": least, "most": most}


def _operators(laid: Overlay, node: int) -> list[dict[str, Any]]:
    found = {(each.graph, each.recorded): each for each in laid.operators_of.get(node, ())}
    tensors: dict[Any, list[dict[str, Any]]] = {key: [] for key in found}
    for each in laid.listing.entries if found else ():
        if operator_key(each) in found:
            tensors[operator_key(each)].append(entry_facts(each, laid.listing.answer(each)))
    return [
        {"graph": graph, "recorded": recorded, "operator": found[graph, recorded].name, "tensors": rows}
        for (graph, recorded), rows in tensors.items()
    ]


def _name(symptom: float | None) -> str:
    return Symptom(int(symptom or 0)).name.lower()
