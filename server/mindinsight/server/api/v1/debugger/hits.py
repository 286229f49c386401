"""Routes for the hits of watchpoints at the current step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindinsight.server.api.v1.debugger.conditions_json import hit_json
from mindinsight.server.api.v1.debugger.dump_graph import display_name
from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    body_schema,
    known_rank,
    slot_of,
)
from mindinsight.server.api.v1.debugger.session import WAITING, Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import Number, RequiredText, Text, first_value, integer
from mindinsight.server.debug.conditions import HOLDS_INF, HOLDS_NAN, NO_PREVIOUS, NO_VALUES
from mindinsight.server.debug.watchpoints import Hit
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)

# Reasons why a condition could not be evaluated: our bit, and the bit and key by which clients choose a text.
_ERRORS: Final = (
    (HOLDS_NAN, 1, "nan"),
    (HOLDS_INF, 2, "inf"),
    (NO_PREVIOUS, 4, "no_prev_tensor"),
    (NO_VALUES, 16, "no_history"),  # 8 is out_of_mem, which does not happen here
)


@router.post(
    "/{session_id}/search-watchpoint-hits",
    openapi_extra=body_schema(
        "group_condition: limit, offset, rank_id, graph_id, watchpoint_id, focused_node"
    ),
)
def search_hits(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """A page of the nodes with hits, in execution order."""
    group = body.get("group_condition")
    if not isinstance(group, dict):
        raise V1Error(Fault.DEBUGGER_TYPE, "Parameter group_condition must be an object.")
    rank = known_rank(session, group.get("rank_id", 0))
    limit, page = _integer(group, "limit", None, 1), _integer(group, "offset", 0, 0)
    nodes = _nodes([hit for hit in hits_of(session, rank) if _is_requested(hit, group)], session)
    if not nodes:
        return {"outdated": session.can_recheck}
    page = _focused_page(nodes, group.get("focused_node"), limit, page)
    if page * limit >= len(nodes):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter offset is past the last page.")
    return {
        "watch_point_hits": nodes[page * limit : (page + 1) * limit],
        "total": len(nodes),
        "offset": page,
        "outdated": session.can_recheck,
    }


@router.get("/{session_id}/tensor-hits")
def tensor_hits(
    session: CurrentSession, tensor_name: RequiredText = None, graph_name: Text = None, rank_id: Number = None
) -> dict[str, Any]:
    """Watchpoints that a tensor hit."""
    if session.state != WAITING:
        raise V1Error(Fault.DEBUGGER_HITS, "The session is busy; wait until its state is waiting.")
    rank = known_rank(session, integer(rank_id, "rank_id", 0, 0, 2**31))
    slot = slot_of(session, first_value(tensor_name), rank, first_value(graph_name))
    return {"watch_points": slot_hits(session, rank, slot.operator, slot.slot)}


def slot_hits(session: Session, rank: int, operator: Operator, slot: str) -> list[dict[str, Any]]:
    """Watchpoints that an output of an operator hit, as JSON, by id."""
    tensor = (operator.graph, operator.name, slot)
    hits = [hit for hit in hits_of(session, rank) if (*_key(hit), hit.entry.slot) == tensor]
    return [_watchpoint(session, hit) for hit in sorted(hits, key=lambda hit: hit.watchpoint.id)]


def hits_of(session: Session, rank: int) -> list[Hit]:
    """Hits of a rank at the current step, unevaluated ones included, of watchpoints that still exist."""
    return [
        hit for hit in session.hits if hit.entry.rank == rank and hit.watchpoint.id in session.watchpoints
    ]


def _key(hit: Hit) -> tuple[str, str]:
    return (hit.entry.graph, hit.entry.operator)


def _is_requested(hit: Hit, group: dict[str, Any]) -> bool:
    graph, watchpoint = group.get("graph_id"), group.get("watchpoint_id")
    return graph in (None, "", display_name(hit.entry.graph)) and watchpoint in (None, 0, hit.watchpoint.id)


def _nodes(hits: Sequence[Hit], session: Session) -> list[dict[str, Any]]:
    """Hits as JSON, grouped by node and slot."""
    nodes: dict[tuple[str, str], dict[str, Any]] = {}
    for hit in hits:
        node = nodes.setdefault(_key(hit), _node(session, hit))
        if hit.watchpoint.id not in node["watchpoint_id"]:
            node["watchpoint_id"].append(hit.watchpoint.id)
        slot = next((slot for slot in node["tensors"] if slot["slot"] == hit.entry.slot), None)
        if slot is None:
            slot = {"slot": hit.entry.slot, "watch_points": []}
            node["tensors"].append(slot)
        slot["watch_points"].append(_watchpoint(session, hit))
    return list(nodes.values())


def _node(session: Session, hit: Hit) -> dict[str, Any]:
    graph_name = display_name(hit.entry.graph)
    graph = session.graph(hit.entry.rank, hit.entry.graph)
    index = graph.find(hit.entry.operator) if graph else None
    name = graph.tree.paths[index] if graph and index is not None else hit.entry.operator
    return {
        "node_name": name,
        "graph_name": graph_name,
        "graph_id": graph_name,
        "watchpoint_id": [],
        "tensors": [],
    }


def _watchpoint(session: Session, hit: Hit) -> dict[str, Any]:
    watchpoint = session.watchpoints[hit.watchpoint.id]
    errors = [(code, key) for bit, code, key in _ERRORS if hit.verdict.error & bit]
    return {
        **hit_json(watchpoint, hit.verdict.findings),
        "error_code": sum(code for code, _ in errors),
        "error_list": [key for _, key in errors],
    }


def _focused_page(nodes: Sequence[dict[str, Any]], focus: object, limit: int, page: int) -> int:
    """Number of the page with the node in focus, otherwise the requested page."""
    if not isinstance(focus, dict):
        return page
    focused = (focus.get("node_name"), focus.get("graph_name"))
    names = [(node["node_name"], node["graph_name"]) for node in nodes]
    return names.index(focused) // limit if focused in names else page


def _integer(group: dict[str, Any], name: str, default: int | None, low: int) -> int:
    value = group.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter {name} must be an integer of at least {low}.")
    return value
