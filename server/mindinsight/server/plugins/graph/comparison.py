"""Routes that compare two graphs: their differences, both pictures, one pair of nodes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mindinsight.server.graph.comparison.compare import LEFT, RIGHT, Comparison, Side
from mindinsight.server.graph.encoders.comparison import box_state, list_differences, pair_json, summary
from mindinsight.server.graph.encoders.drawing import picture_json
from mindinsight.server.graph.scopes.initial_scopes import choose_initial_scopes
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.graph.tree_cache import TreeCache, View, node_index, node_indices, tree_of

router = APIRouter(route_class=GraphRoute, prefix="/compare")

Uses = Annotated[Service, Depends(service_of)]
Left = Annotated[Tree, Depends(tree_of)]
Opened = Annotated[
    str | None,
    Query(alias="open", description="places of open scopes of the left graph; absent: as many as look well"),
]
OtherOpened = Annotated[
    str, Query(alias="other_open", description="places of open scopes of the right graph without partners")
]


def other_tree(
    service: Uses,
    other_run: str,
    other_tag: Annotated[
        str, Query(description="name of the right graph; the first by name when it is left out")
    ] = "",
    view: View = "recorded",
) -> Tree:
    """The tree of the right graph."""
    return tree_of(service, other_run, other_tag, view)


def comparison_of(service: Uses, left: Left, right: Annotated[Tree, Depends(other_tree)]) -> Comparison:
    """The comparison that a request's parameters ask for."""
    return service.parts.of(TreeCache).comparison(left, right)


Compared = Annotated[Comparison, Depends(comparison_of)]


@router.get("/differences")
def differences(compared: Compared, limit: Annotated[int, Query(ge=1, le=5000)] = 1000) -> dict[str, Any]:
    """How many operators are the same, differ, or are in one graph only, and which."""
    return {**summary(compared), **list_differences(compared, limit)}


@router.get("/pictures")
def pictures(
    service: Uses, compared: Compared, opened: Opened = None, other_opened: OtherOpened = ""
) -> dict[str, Any]:
    """Both pictures; a scope is open when its partner is. Each box tells what differs in it."""
    trees = service.parts.of(TreeCache)
    left, right = compared.trees
    if opened is None:
        indices = set(choose_initial_scopes(left)), set(choose_initial_scopes(right))
    else:
        indices = set(node_indices(left, opened)), set(node_indices(right, other_opened))
    indices = (
        indices[LEFT] | _partners(compared, RIGHT, indices[RIGHT]),
        indices[RIGHT] | _partners(compared, LEFT, indices[LEFT]),
    )
    alone = [index for index in indices[RIGHT] if compared.partners[RIGHT][index] < 0]
    return {
        "open": sorted(index for index in indices[LEFT] if left.nodes[index] < 0),
        "other_open": sorted(index for index in alone if right.nodes[index] < 0),
        "left": _picture(trees, compared, LEFT, indices[LEFT]),
        "right": _picture(trees, compared, RIGHT, indices[RIGHT]),
    }


def _partners(compared: Comparison, side: Side, indices: set[int]) -> set[int]:
    partners = {int(compared.partners[side][index]) for index in indices}
    return partners - {-1}


def _picture(trees: TreeCache, compared: Comparison, side: Side, indices: set[int]) -> dict[str, Any]:
    tree = compared.trees[side]
    picture = picture_json(tree, trees.drawings(tree).of(indices))
    for box in picture["boxes"]:
        box.update(box_state(compared, side, box["id"]))
    return picture


@router.get("/node")
def node(
    compared: Compared,
    node: Annotated[str, Query(description="path or place in the left graph")] = "",
    other_node: Annotated[str, Query(description="path or place in the right graph")] = "",
) -> dict[str, Any]:
    """A node of either graph, its partner, and in what they differ; without a name, of the whole graphs."""
    side: Side = RIGHT if other_node else LEFT
    index = node_index(compared.trees[side], node or other_node)
    partner = int(compared.partners[side][index])
    return pair_json(compared, (index, partner) if side == LEFT else (partner, index))
