"""Routes that search a dump's graph by name, class and source line, and list source lines and steps."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query

from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph, display_name
from mindinsight.server.api.v1.debugger.lookup import CurrentSession, graph_of, known_rank
from mindinsight.server.api.v1.debugger.nodes import classes_of, frame_json
from mindinsight.server.api.v1.debugger.retrieve import watch_of
from mindinsight.server.api.v1.debugger.session import Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import Number, Text, first_value, integer, to_integer
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.graph.search.node_search import match_end_of_path, nest
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)

CATEGORIES: Final = ("weight", "gradient", "activation")
_MOST: Final = 2**31


@router.get("/{session_id}/search")
def search(
    session: CurrentSession,
    name: Text = None,
    graph_name: Text = None,
    node_category: Annotated[list[str] | None, Query(description="weight, gradient or activation")] = None,
    rank_id: Number = None,
    watch_point_id: Number = None,
    stack_info_key_word: Text = None,
) -> dict[str, Any]:
    """Nodes that match all conditions, nested in their scopes."""
    rank = known_rank(session, integer(rank_id, "rank_id", 0, 0, _MOST))
    graph = graph_of(session, rank, first_value(graph_name))
    watched = watch_of(session, rank, graph, integer(watch_point_id, "watch_point_id", 0, 0, _MOST))
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
    """Source lines that lead to operators, grouped by file; ``offset`` counts pages of files."""
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
    """Steps of a rank, from 1, and the graphs that ran in each."""
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
    """Indices that match a name, a category and a word in their call stacks; none without any condition.

    Raises V1Error.
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
