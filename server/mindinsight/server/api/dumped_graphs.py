"""Routes for a graph coloured by a dump of the same training. They combine the graph and dump plugins."""

from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.debug.examine import operator_key
from mindinsight.server.debug.operator_tree import share
from mindinsight.server.debug.overlay.graph_overlay import (
    SYMPTOMS,
    Overlay,
    Symptom,
    count_symptoms,
    largest_below,
)
from mindinsight.server.debug.overlay.overlay_claims import outside_of
from mindinsight.server.debug.watchpoints import Hit, Tally
from mindinsight.server.errors import ApiError
from mindinsight.server.graph.encoders.node_json import entry
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.plugins.dump.dump_requests import Sessions, StepListing, entry_json
from mindinsight.server.plugins.dump.fault_routes import CHECK
from mindinsight.server.plugins.dump.tensor_table import Statistic
from mindinsight.server.plugins.graph.tree_cache import node_index, node_indices, tree_of
from mindinsight.server.types import Doubles

router = APIRouter(route_class=DumpRoute, prefix="/v2/graph/dump", tags=["graph"])

Colour: TypeAlias = Literal["symptoms"] | Statistic
Check = Annotated[
    int | None, Query(description="number of a check of this dump, with hits that count as symptoms")
]

_WORST: Final = 20  # operators listed for a scope


def overlay_of(tree: Annotated[Tree, Depends(tree_of)], listing: StepListing, sessions: Sessions) -> Overlay:
    """Return the graph joined with the dumped step of a request, from the cache. FastAPI dependency."""
    return sessions.get((tree, listing), Overlay, lambda: Overlay(tree, listing))


CurrentOverlay = Annotated[Overlay, Depends(overlay_of)]


def check_job(service: CurrentService, check: Check = None) -> BackgroundJob[Hit | Tally] | None:
    """Return the selected check, or None if there is none or it has expired. FastAPI dependency."""
    try:
        return None if check is None else CHECK.find(service, check)
    except ApiError:
        return None


CheckJob = Annotated[BackgroundJob[Hit | Tally] | None, Depends(check_job)]


@router.get("")
def colours(
    overlay: CurrentOverlay,
    job: CheckJob,
    colour: Colour = SYMPTOMS,
    shown: Annotated[str, Query(description="comma-separated indices of the boxes in the drawing")] = "",
) -> dict[str, Any]:
    """Return the colours of boxes, and the number of the dump's operators that are in the graph.

    A scope has the worst `symptom`, or the largest `value`, of its operators. Views, as of its input, do not
    count for the value. `share` is the position of the
    value among all known values, 0 to 1 on a logarithmic scale. `symptom` and `counts` are returned for every
    colour. `first` is the first
    operator with a symptom, once all tensors are measured. `judged` and `unjudged` count dumped operators
    and parameters, in the graph or not. `claims` say what the boxes cannot show: a first fault or non-finite
    outputs outside the graph, norms that changed, and non-finite weights, whose nodes are `weights`.
    `broken_afterwards` lists parameters that are non-finite, as recorded after the operators ran. Poll until
    `done`.
    """
    done = overlay.listing.done and (job is None or job.done)
    column = _column(overlay, colour, job)
    indices = node_indices(overlay.tree, shown)
    if colour == SYMPTOMS:
        boxes = _by_symptom(overlay, column, indices)
    else:
        boxes = _by_size(overlay, column, _column(overlay, SYMPTOMS, job), indices)
    outside = outside_of(overlay, done)
    return {
        "done": done,
        "tensors": len(overlay.listing.entries),
        "measured": len(overlay.listing.results),
        "dumped": overlay.joined.dumped,
        "found": overlay.joined.matched,
        "by_order": overlay.joined.by_order,
        "by_module": overlay.joined.by_module,
        "renamed": overlay.joined.renamed,
        "ambiguous": overlay.joined.ambiguous,
        "broken_afterwards": overlay.broken_afterwards(),
        "claims": [claim.as_json() for claim in outside.claims],
        "weights": outside.weights,
        "judged": len(overlay.joined.nodes),
        "unjudged": len(overlay.listing.operators.keys() - overlay.joined.nodes.keys()),
        **boxes,
    }


@router.get("/node")
def node(
    overlay: CurrentOverlay, job: CheckJob, node: Annotated[str, Query(description="path or index")]
) -> dict[str, Any]:
    """Return the dumped tensors of an operator, or of a scope the 20 operators with the worst symptoms,
    worst first. `total` counts all operators of the scope with a symptom. `claims` of an operator say
    which inputs in the dump this graph does not have."""
    done = overlay.listing.done  # read before the results, so that none is added after it
    index = node_index(overlay.tree, node)
    graph_node = int(overlay.tree.nodes[index])
    if graph_node >= 0:
        claims = [claim.as_json() for claim in overlay.other_inputs(graph_node)]
        operators = _operators(overlay, graph_node)
        return {"operators": operators, "claims": claims, "worst": [], "total": 0, "done": done}
    column = _column(overlay, SYMPTOMS, job)
    inside = np.arange(index, overlay.tree.ends[index])
    affected = inside[column[inside] > Symptom.MASK]
    affected = affected[np.argsort(-column[affected], kind="stable")]
    worst = affected[:_WORST].tolist()
    rows = [{**entry(overlay.tree, leaf), "symptom": _name(column[leaf])} for leaf in worst]
    return {"operators": [], "claims": [], "worst": rows, "total": len(affected), "done": done}


@router.get("/outer")
def outer(overlay: CurrentOverlay, node: Annotated[int, Query(ge=0)]) -> dict[str, Any]:
    """Return the dumped tensors of the parameter with the node number ``node``. There are none if it is
    unknown, or was not dumped. `updated` tensors were recorded after the first operator of the step ran.
    Operators may have received other values."""
    return {
        "operators": _operators(overlay, node),
        "claims": [],
        "worst": [],
        "total": 0,
        "done": overlay.listing.done,
    }


@router.get("/place")
def locate(overlay: CurrentOverlay, recorded: str, graph: str = "") -> dict[str, int | None]:
    """Return the position of a dumped operator in the graph: its index in the tree as `place`, or the node
    number of a parameter as `outer`. Returns 404 if the operator is not in the graph. The other is null."""
    graph_node = overlay.joined.nodes.get((graph, recorded))
    if graph_node is None:
        raise ApiError(404, "not_in_graph", f"{recorded!r} is not in this graph.", operator=recorded)
    leaf = int(overlay.tree.leaf_indices[graph_node])
    return {"place": leaf, "outer": None} if leaf >= 0 else {"place": None, "outer": graph_node}


def _column(overlay: Overlay, colour: Colour, job: BackgroundJob[Hit | Tally] | None) -> Doubles:
    return overlay.column(colour, [item for item in job.items if isinstance(item, Hit)] if job else ())


def _by_symptom(overlay: Overlay, column: Doubles, indices: list[int]) -> dict[str, Any]:
    boxes = [
        {
            "id": index,
            "symptom": _name(largest_below(overlay.tree, column, index)),
            "counts": count_symptoms(overlay.tree, column, index),
        }
        for index in indices
    ]
    faults = np.flatnonzero(column == Symptom.FAULT).tolist()
    counts = count_symptoms(overlay.tree, column, ROOT)
    anomalies = np.flatnonzero(column > Symptom.MASK) if overlay.listing.done else ()
    first = min(map(int, anomalies), key=lambda index: overlay.tree.nodes[index], default=None)
    spots = {"fault": faults[0] if faults else None, "first": first}
    places = {name: None if index is None else entry(overlay.tree, index) for name, index in spots.items()}
    return {"boxes": boxes, "counts": counts, **places}


def _by_size(overlay: Overlay, column: Doubles, ill: Doubles, indices: list[int]) -> dict[str, Any]:
    """Return boxes with the value of ``column``, such as a norm, and the symptom in ``ill``, as JSON."""
    known = column[(column > 0) & (column < np.inf)]
    least, most = (float(known.min()), float(known.max())) if len(known) else (None, None)
    ends = [size for size in (least, most) if size is not None]
    computed, ends_of = overlay.computed(column), overlay.tree.ends
    sizes = {
        index: largest_below(overlay.tree, computed if ends_of[index] > index + 1 else column, index)
        for index in indices
    }
    boxes = [
        {
            "id": index,
            "value": non_finite_as_text(size),
            "share": None if size is None else share(size, ends),
            "symptom": _name(largest_below(overlay.tree, ill, index)),
        }
        for index, size in sizes.items()
    ]
    counts = count_symptoms(overlay.tree, ill, ROOT)
    return {"boxes": boxes, "least": least, "most": most, "counts": counts}


def _operators(overlay: Overlay, node: int) -> list[dict[str, Any]]:
    operators = {(known.graph, known.recorded): known for known in overlay.operators_of.get(node, ())}
    tensors: dict[Any, list[dict[str, Any]]] = {key: [] for key in operators}
    for tensor in overlay.listing.entries if operators else ():
        if operator_key(tensor) in operators:
            tensors[operator_key(tensor)].append(entry_json(tensor, overlay.listing.result(tensor)))
    rows = []
    for (graph, recorded), listed in tensors.items():
        name, updated = operators[graph, recorded].name, (graph, recorded) in overlay.updated
        about = {"graph": graph, "recorded": recorded, "operator": name, "updated": updated}
        rows.append({**about, "tensors": listed})
    return rows


def _name(symptom: float | None) -> str:
    return Symptom(int(symptom or 0)).name.lower()
