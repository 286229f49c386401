"""Routes for nodes of a graph: search, children, details, dependencies."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.graphs.call_stacks import stacks_of
from mindinsight.server.graph.encoders.nodes import describe_node, describe_outer, entry, outer_entry
from mindinsight.server.graph.model.graph import OPERATOR
from mindinsight.server.graph.model.node_details import source_lines
from mindinsight.server.graph.scopes.tree import ROOT, Tree
from mindinsight.server.graph.search.node_search import find_nodes, find_outer, nest
from mindinsight.server.graph.search.patterns import BadPattern
from mindinsight.server.graph.search.trace import Direction, count_by_box, trace
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.plugins.graph.tree_cache import node_index, node_indices, tree_of

router = APIRouter(route_class=GraphRoute)

CurrentTree = Annotated[Tree, Depends(tree_of)]


@router.get("/search")
def search(
    tree: CurrentTree,
    q: Annotated[
        str, Query(max_length=200, description="part of a name; of a path if it contains a slash")
    ] = "",
    regex: bool = False,
    type: Annotated[list[str] | None, Query(description="operator types")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Nodes that match, nested in their scopes; parameters and constants separately."""
    try:
        matches = find_nodes(tree, q, type or (), regex)
        outer = find_outer(tree, q, regex) if q and not type else []
    except BadPattern as error:
        raise ApiError(400, "bad_pattern", f"The pattern cannot be used: {error}.", why=str(error)) from error
    first_matches = set(matches[:limit])

    def branch(index: int, inside: list[dict[str, Any]]) -> dict[str, Any]:
        return {**entry(tree, index), "found": index in first_matches, "inside": inside}

    return {
        "total": len(matches),
        "shown": len(first_matches),
        "tree": nest(tree, matches[:limit], branch),
        "outer_total": len(outer),
        "outer": [outer_entry(tree, node) for node in outer[:limit]],
    }


@router.get("/inside")
def inside(
    tree: CurrentTree, node: Annotated[str, Query(description="path or index of a scope")] = ""
) -> dict[str, Any]:
    """Children of a scope, for browsing without a drawing."""
    index = node_index(tree, node) if node else ROOT
    return {"inside": [entry(tree, child) for child in tree.children(index)]}


@router.get("/node")
def node(tree: CurrentTree, node: Annotated[str, Query(description="path or index")]) -> dict[str, Any]:
    """Details of a scope or an operator, with its call stacks."""
    index = node_index(tree, node)
    graph_node = int(tree.nodes[index])
    stacks = stacks_of(source_lines(tree.graph, graph_node)) if graph_node >= 0 else ()
    return describe_node(tree, index) | {"stacks": [[asdict(frame) for frame in stack] for stack in stacks]}


@router.get("/outer")
def outer(
    tree: CurrentTree, node: Annotated[int, Query(ge=0, description="node number from another response")]
) -> dict[str, Any]:
    """Details of a parameter or a constant."""
    if node >= len(tree.graph) or tree.graph.kinds[node] == OPERATOR:
        raise ApiError(404, "unknown_node", f"There is no parameter or constant {node}.", node=node)
    return describe_outer(tree, node)


@router.get("/trace")
def traced(
    tree: CurrentTree,
    node: Annotated[str, Query(description="path or index")],
    direction: Direction = "up",
    shown: Annotated[str, Query(description="comma-separated indices of the boxes in the drawing")] = "",
) -> dict[str, Any]:
    """Number of operators that a node depends on (up) or that depend on it (down), in total and by box."""
    leaves = trace(tree, node_index(tree, node), direction)
    boxes = count_by_box(tree, node_indices(tree, shown), leaves)
    return {"operators": len(leaves), "boxes": list(boxes), "counts": list(boxes.values())}
