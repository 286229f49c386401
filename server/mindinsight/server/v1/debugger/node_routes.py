"""Routes for the state of a session, and for the search in a dump's graph."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any, Final

from fastapi import Query

from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.graph.scopes.scope_tree import ROOT
from mindinsight.server.graph.search import match_end_of_path, nest
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.v1.debugger.debugger_json import (
    WatchedLeaves,
    classes_of,
    frame_json,
    levels_json,
    nodes_json,
    watched_leaves,
    watchpoint_json,
)
from mindinsight.server.v1.debugger.debugger_session import DumpGraph, Session, display_name
from mindinsight.server.v1.debugger.session_lookup import (
    MOST_IDS,
    CurrentSession,
    JsonBody,
    RequestedRank,
    graph_of,
    known_rank,
    node_index,
)
from mindinsight.server.v1.v1_parameters import Number, Text, body_schema, first_value, integer, to_integer
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=DumpRoute)

_MODES: Final = ("all", "node", "watchpoint")


@router.post("/{session_id}/retrieve", openapi_extra=body_schema("mode (all, node or watchpoint) and params"))
def retrieve(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Return the whole state, the nodes of a scope, or the watchpoints."""
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
    """Return the leaves that a watchpoint covers, or None if no watchpoint is selected (0).

    Raises V1Error.
    """
    if not watchpoint_id:
        return None
    watchpoint = session.watchpoints.get(watchpoint_id) if isinstance(watchpoint_id, int) else None
    if watchpoint is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter watch_point_id does not match any watchpoint.")
    return watched_leaves(session, rank, graph, watchpoint)


def graph_json(session: Session, rank: int, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the names of a rank's graphs, and the given nodes, as JSON."""
    names = [display_name(graph) for graph in session.dump.graphs(rank)]
    return {"graph_names": names, "nodes": nodes}


def metadata(session: Session) -> dict[str, Any]:
    """Return the metadata of a session for a client that connects, as JSON."""
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
    graphs = session.dump.graphs(rank)
    graph = session.graph(rank, graphs[0] if len(graphs) == 1 else None)
    nodes = nodes_json(graph, graph.tree.children(ROOT)) if graph is not None else []
    return {
        "metadata": metadata(session),
        "graph": graph_json(session, rank, nodes),
        "devices": [_device(session, item) for item in session.dump.ranks],
        "watch_points": [watchpoint_json(item) for item in session.watchpoints.values()],
    }


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


CATEGORIES: Final = ("weight", "gradient", "activation")


@router.get("/{session_id}/search")
def search(
    session: CurrentSession,
    rank: RequestedRank,
    name: Text = None,
    graph_name: Text = None,
    node_category: Annotated[list[str] | None, Query(description="weight, gradient or activation")] = None,
    watch_point_id: Number = None,
    stack_info_key_word: Text = None,
) -> dict[str, Any]:
    """Return the nodes that match all conditions, nested in their scopes."""

    graph = graph_of(session, rank, first_value(graph_name))
    watched = watch_of(session, rank, graph, integer(watch_point_id, "watch_point_id", 0, 0, MOST_IDS))
    indices = search_nodes(
        session, rank, graph, first_value(name), first_value(node_category), first_value(stack_info_key_word)
    )

    def entry(index: int, inside: list[dict[str, Any]]) -> dict[str, Any]:
        tree = graph.tree
        node: dict[str, Any] = {"name": tree.paths[index], "type": tree.types[index], "nodes": inside}
        node["is_dynamic_shape_node"] = False
        return node if watched is None else {**node, "watched": watched.state(index)}

    return {"nodes": nest(graph.tree, indices, entry)}


@router.get("/{session_id}/stacks")
def stacks(
    session: CurrentSession, key_word: Text = None, limit: Number = None, offset: Number = None
) -> dict[str, Any]:
    """Return the source lines that lead to operators, grouped by file. `offset` counts pages of files."""
    rows = integer(limit, "limit", 10, 0, 100)
    page = integer(offset, "offset", 0, 0)
    word = (first_value(key_word) or "").lower()
    files: dict[str, list[Frame]] = {}
    for frame in sorted(_frames(session), key=lambda frame: (frame.file, frame.line, frame.code)):
        if word in f"{frame.file}:{frame.line} {frame.code}".lower():
            files.setdefault(frame.file, []).append(frame)
    if not files:
        return {}
    page_files = list(files.items())[page * rows : (page + 1) * rows] if rows else list(files.items())
    return {
        "total": len(files),
        "offset": page,
        "stack_infos": [
            {"file_path": path, "items": [frame_json(frame) for frame in frames]}
            for path, frames in page_files
        ],
    }


@router.get("/{session_id}/ranks/{rank_id}/graph-runs")
def graph_runs(session: CurrentSession, rank_id: str) -> dict[str, Any]:
    """Return the steps of a rank, from 1, with the graphs that ran in each."""
    rank = known_rank(session, to_integer(rank_id, "rank_id"))
    runs = [
        {
            "count": step + 1,
            "graph_name": "",
            "has_data": True,
            "sub_graph_names": [display_name(graph) for graph in session.dump.graphs(rank, step)],
        }
        for step in session.dump.steps(rank)
    ]
    return {"graph_runs": runs}


def search_nodes(
    session: Session, rank: int, graph: DumpGraph, name: str | None, category: str | None, word: str | None
) -> list[int]:
    """Return the indices that match a name, a category and a word of the call stack.

    Returns an empty list without any condition. Raises V1Error for an unknown category.
    """
    if category and category not in CATEGORIES:
        raise V1Error(
            Fault.DEBUGGER_VALUE, f"Parameter node_category must be one of {', '.join(CATEGORIES)}."
        )
    if not (name or category or word):
        return []
    indices = match_end_of_path(graph.tree, name) if name else list(range(1, len(graph.tree.paths)))
    if category:
        classes = classes_of(session, rank)
        indices = [index for index in indices if category in _classes(graph, index, classes)]
    if word:
        indices = [index for index in indices if _stack_contains(graph, index, word.lower())]
    return indices


def _classes(graph: DumpGraph, index: int, classes: dict[str, frozenset[str]]) -> frozenset[str]:
    operator = graph.operator(index)
    return classes.get(operator.name, frozenset()) if operator else frozenset()


def _stack_contains(graph: DumpGraph, index: int, word: str) -> bool:
    operator = graph.operator(index)
    stack = operator.stack if operator else ()
    return any(word in f"{frame.file}:{frame.line} {frame.code}".lower() for frame in stack)


def _frames(session: Session) -> set[Frame]:
    graphs = [session.graph(rank, None) for rank in session.dump.ranks]
    return {frame for graph in graphs if graph for operator in graph.operators for frame in operator.stack}
