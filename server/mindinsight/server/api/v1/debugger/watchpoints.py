"""Routes for watchpoints: list of conditions, create, update, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mindinsight.server.api.v1.debugger.conditions_json import collections_json, condition_of
from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph
from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    body_schema,
    graph_of,
    known_rank,
    node_index,
)
from mindinsight.server.api.v1.debugger.nodes import watched_operators
from mindinsight.server.api.v1.debugger.search import search_nodes
from mindinsight.server.api.v1.debugger.session import WAITING, Session, SessionWatchpoint
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.debug.preset import common_faults
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)


@router.get("/{session_id}/condition-collections")
def condition_collections(session: CurrentSession) -> list[dict[str, Any]]:
    """Conditions that are available at this step, with their parameters and defaults."""
    return collections_json(session)


@router.post(
    "/{session_id}/create-watchpoint",
    openapi_extra=body_schema(
        "condition (id, params); watch_nodes: names of nodes, all of the target without it"
    ),
)
def create(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Create a watchpoint."""
    _check_waiting(session, Fault.DEBUGGER_CREATE)
    if "condition" not in body:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition is missing.")
    condition, limits = condition_of(session, body["condition"])
    names = _operators_named(session, body) if body.get("watch_nodes") else None
    number = session.add_watchpoint(SessionWatchpoint(0, condition, limits, names))
    return {"id": number, "metadata": session.status("state", "enable_recheck")}


@router.post(
    "/{session_id}/update-watchpoint",
    openapi_extra=body_schema(
        "watch_point_id, watch_nodes, mode (1 adds, 0 removes), graph_name, search_pattern"
    ),
)
def update(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Add nodes to a watchpoint or remove them; a scope stands for all operators in it."""
    _check_waiting(session, Fault.DEBUGGER_UPDATE)
    watchpoint = _watchpoint(session, body.get("watch_point_id"))
    if body.get("mode") not in (0, 1):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter mode must be 0 or 1.")
    names = _operators_named(session, body)
    before = watched_operators(session, known_rank(session, body.get("rank_id", 0)), watchpoint)
    if names:
        session.set_watchpoint(replace(watchpoint, names=before | names if body["mode"] else before - names))
    return {"metadata": session.status("state", "enable_recheck")}


@router.post(
    "/{session_id}/delete-watchpoint", openapi_extra=body_schema("watch_point_id; without it all are removed")
)
def delete(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Delete a watchpoint, or all of them."""
    _check_waiting(session, Fault.DEBUGGER_DELETE)
    number = body.get("watch_point_id")
    ids = [_watchpoint(session, number).id] if number is not None else list(session.watchpoints)
    for number in ids:
        session.remove_watchpoint(number)
    return {"metadata": session.status("state", "enable_recheck")}


@router.post(
    "/{session_id}/set-recommended-watch-points",
    openapi_extra=body_schema("requestBody: {set_recommended: true}"),
)
def set_recommended(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Create watchpoints for the common faults; once per session."""
    if "requestBody" not in body:
        raise V1Error(Fault.MISSING, "Parameter requestBody is missing.")
    request = body["requestBody"]
    confirmed = request.get("set_recommended") if isinstance(request, dict) else None
    if not isinstance(confirmed, bool):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter set_recommended must be true or false.")
    if session.recommended:
        raise V1Error(Fault.DEBUGGER_RECOMMENDED, "The recommended watchpoints have already been set.")
    session.recommended = True
    response: dict[str, Any] = {"metadata": session.status("state", "enable_recheck")}
    if confirmed:
        watchpoints = [
            SessionWatchpoint(0, fault.condition, fault.limits, types=fault.types)
            for fault in common_faults()
        ]
        response["id"] = [session.add_watchpoint(fault) for fault in watchpoints]
        response["metadata"] = session.status("state", "enable_recheck")
    return response


def _check_waiting(session: Session, fault: Fault) -> None:
    if session.state != WAITING:
        raise V1Error(fault, "The session is busy; wait until its state is waiting.")


def _watchpoint(session: Session, watchpoint_id: object) -> SessionWatchpoint:
    is_number = isinstance(watchpoint_id, int) and not isinstance(watchpoint_id, bool)
    watchpoint = session.watchpoints.get(int(watchpoint_id)) if is_number else None  # type: ignore[call-overload]
    if watchpoint is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter watch_point_id does not match any watchpoint.")
    return watchpoint


def _operators_named(session: Session, body: dict[str, Any]) -> frozenset[str]:
    """Full names of the operators that a body selects by nodes, scopes or a search. Raises V1Error."""
    rank = known_rank(session, body.get("rank_id", 0))
    graph = graph_of(session, rank, body.get("graph_name"))
    nodes, pattern = body.get("watch_nodes") or [], body.get("search_pattern")
    if not isinstance(nodes, list) or not isinstance(pattern, dict | None):
        raise V1Error(Fault.DEBUGGER_TYPE, "watch_nodes must be a list, search_pattern an object.")
    indices = [node_index(graph, node, body.get("graph_name")) for node in nodes]
    if pattern and not indices:
        indices = search_nodes(session, rank, graph, *(_text(pattern, key) for key in _PATTERN))
    return frozenset(name for index in indices for name in _operators(graph, index))


_PATTERN = ("name", "node_category", "stack_info_key_word")


def _text(pattern: dict[str, Any], key: str) -> str | None:
    value = pattern.get(key)
    if not isinstance(value, str | None):
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter {key} must be a string.")
    return value


def _operators(graph: DumpGraph, index: int) -> list[str]:
    leaves = [graph.operator(leaf) for leaf in graph.tree.leaves(index)]
    return [operator.name for operator in leaves if operator is not None]
