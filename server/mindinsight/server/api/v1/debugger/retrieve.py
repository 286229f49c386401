"""Route ``retrieve``: state of a session, devices, nodes of the graph, watchpoints."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Final

from mindinsight.server.api.v1.debugger.conditions_json import watchpoint_json
from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph, display_name
from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    body_schema,
    graph_of,
    known_rank,
    node_index,
)
from mindinsight.server.api.v1.debugger.nodes import WatchedLeaves, levels_json, nodes_json, watched_leaves
from mindinsight.server.api.v1.debugger.session import Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.graph.scopes.tree import ROOT
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)

_MODES: Final = ("all", "node", "watchpoint")


@router.post("/{session_id}/retrieve", openapi_extra=body_schema("mode (all, node or watchpoint) and params"))
def retrieve(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """The whole state, the nodes of a scope, or the watchpoints."""
    mode, params = body.get("mode"), body.get("params") or {}
    if mode not in _MODES:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter mode must be one of {', '.join(_MODES)}.")
    if not isinstance(params, dict):
        raise V1Error(Fault.DEBUGGER_TYPE, "Parameter params must be an object.")
    if mode == "all":
        return _all(session)
    number = params.get("watch_point_id")
    if mode == "watchpoint" and not number:
        return {"watch_points": [watchpoint_json(watchpoint) for watchpoint in session.watchpoints.values()]}
    return _node(session, params)


def watch_of(session: Session, rank: int, graph: DumpGraph, watchpoint_id: object) -> WatchedLeaves | None:
    """Leaves that a watchpoint covers; None if no watchpoint is selected (0). Raises V1Error."""
    if not watchpoint_id:
        return None
    watchpoint = session.watchpoints.get(watchpoint_id) if isinstance(watchpoint_id, int) else None
    if watchpoint is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter watch_point_id does not match any watchpoint.")
    return watched_leaves(session, rank, graph, watchpoint)


def graph_json(session: Session, rank: int, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Names of a rank's graphs, and the given nodes, as JSON."""
    names = [display_name(graph) for graph in session.dump.graphs(rank)]
    return {"graph_names": names, "nodes": nodes}


def metadata(session: Session) -> dict[str, Any]:
    """Metadata of a session for a client that connects, as JSON."""
    ascend = "ascend" in session.dump.device.lower()
    own_version = version("mindinsight")
    return {
        **session.status(),
        "device_name": "",
        "pos": "0",
        "ip": "None",
        "node_name": "",
        "backend": "Ascend" if ascend else "GPU",
        "graph_name": "",
        "recommendation_confirmed": session.recommended,
        "debugger_version": {"ms": session.dump.version, "mi": own_version},
        "data_version": {"state": False, "ms": session.dump.version, "mi": own_version},
        "total_step_num": session.total_steps(),
    }


def _all(session: Session) -> dict[str, Any]:
    rank = min(session.dump.ranks, default=0)
    graph = session.graph(rank, _only_graph(session, rank))
    nodes = nodes_json(graph, graph.tree.children(ROOT)) if graph is not None else []
    return {
        "metadata": metadata(session),
        "graph": graph_json(session, rank, nodes),
        "devices": [_device(session, item) for item in session.dump.ranks],
        "watch_points": [watchpoint_json(item) for item in session.watchpoints.values()],
    }


def _only_graph(session: Session, rank: int) -> str | None:
    graphs = session.dump.graphs(rank)
    return graphs[0] if len(graphs) == 1 else None


def _device(session: Session, rank: int) -> dict[str, Any]:
    return {
        "rank_id": rank,
        "server_ip": "localhost",
        "device_id": rank,
        "device_ip": None,
        "graph_names": [display_name(graph) for graph in session.dump.graphs(rank)],
        "total_step_num": session.total_steps(rank),
    }


def _node(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    rank = known_rank(session, params.get("rank_id", 0))
    graph_name, name = params.get("graph_name"), params.get("name")
    graph = graph_of(session, rank, graph_name)
    watched = watch_of(session, rank, graph, params.get("watch_point_id"))
    index = node_index(graph, name, graph_name) if name else ROOT
    if params.get("single_node") and name:
        return {"graph": {**graph_json(session, rank, []), **levels_json(graph, index, watched)}}
    return {"graph": graph_json(session, rank, nodes_json(graph, graph.tree.children(index), watched))}
