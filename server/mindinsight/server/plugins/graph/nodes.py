"""Routes for nodes: search, details of one node, and its dependencies."""

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
from mindinsight.server.graph.search.node_search import find, find_outer, nested
from mindinsight.server.graph.search.patterns import BadPattern
from mindinsight.server.graph.search.trace import Direction, count_by_box, trace
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.plugins.graph.tree_cache import node_index, node_indices, tree_of

router = APIRouter(route_class=GraphRoute)

Shown = Annotated[Tree, Depends(tree_of)]


@router.get("/search")
def search(
    tree: Shown,
    q: Annotated[
        str, Query(max_length=200, description="part of a name; of a path when it holds a slash")
    ] = "",
    regex: bool = False,
    type: Annotated[list[str] | None, Query(description="operator types")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """What was found, in the scopes around it; parameters and constants apart."""
    try:
        matches = find(tree, q, type or (), regex)
        outer = find_outer(tree, q, regex) if q and not type else []
    except BadPattern as error:
        raise ApiError(400, "bad_pattern", f"The pattern cannot be used: {error}.", why=str(error)) from error
    shown = set(matches[:limit])

    def branch(index: int, inside: list[dict[str, Any]]) -> dict[str, Any]:
        return {**entry(tree, index), "found": index in shown, "inside": inside}

    return {
        "total": len(matches),
        "shown": len(shown),
        "tree": nested(tree, matches[:limit], branch),
        "outer_total": len(outer),
        "outer": [outer_entry(tree, node) for node in outer[:limit]],
    }


@router.get("/inside")
def inside(
    tree: Shown, node: Annotated[str, Query(description="path or place of a scope")] = ""
) -> dict[str, Any]:
    """The entries directly inside a scope, for browsing without a picture."""
    index = node_index(tree, node) if node else ROOT
    return {"inside": [entry(tree, child) for child in tree.children(index)]}


@router.get("/node")
def node(tree: Shown, node: Annotated[str, Query(description="path or place")]) -> dict[str, Any]:
    """All about a scope or an operator."""
    index = node_index(tree, node)
    number = int(tree.nodes[index])
    stacks = stacks_of(source_lines(tree.graph, number)) if number >= 0 else ()
    return describe_node(tree, index) | {"stacks": [[asdict(frame) for frame in stack] for stack in stacks]}


@router.get("/outer")
def outer(
    tree: Shown, node: Annotated[int, Query(ge=0, description="number from an earlier answer")]
) -> dict[str, Any]:
    """All about a parameter or a constant."""
    if node >= len(tree.graph) or tree.graph.kinds[node] == OPERATOR:
        raise ApiError(404, "unknown_node", f"There is no parameter or constant {node}.", node=node)
    return describe_outer(tree, node)


@router.get("/trace")
def traced(
    tree: Shown,
    node: Annotated[str, Query(description="path or place")],
    direction: Direction = "up",
    shown: Annotated[str, Query(description="places of the boxes in the picture, with commas")] = "",
) -> dict[str, Any]:
    """How many operators a node depends on, or depend on it, and in which boxes of the picture they are."""
    leaves = trace(tree, node_index(tree, node), direction)
    boxes = count_by_box(tree, node_indices(tree, shown), leaves)
    return {"operators": len(leaves), "boxes": list(boxes), "counts": list(boxes.values())}
