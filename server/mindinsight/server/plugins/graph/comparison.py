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
from mindinsight.server.plugins.graph.tree_cache import TreeCache, View, place_of, places_of, tree_of

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
        places = set(choose_initial_scopes(left)), set(choose_initial_scopes(right))
    else:
        places = set(places_of(left, opened)), set(places_of(right, other_opened))
    places = (
        places[LEFT] | _partners(compared, RIGHT, places[RIGHT]),
        places[RIGHT] | _partners(compared, LEFT, places[LEFT]),
    )
    alone = [place for place in places[RIGHT] if compared.partners[RIGHT][place] < 0]
    return {
        "open": sorted(place for place in places[LEFT] if left.nodes[place] < 0),
        "other_open": sorted(place for place in alone if right.nodes[place] < 0),
        "left": _picture(trees, compared, LEFT, places[LEFT]),
        "right": _picture(trees, compared, RIGHT, places[RIGHT]),
    }


def _partners(compared: Comparison, side: Side, places: set[int]) -> set[int]:
    partners = {int(compared.partners[side][place]) for place in places}
    return partners - {-1}


def _picture(trees: TreeCache, compared: Comparison, side: Side, places: set[int]) -> dict[str, Any]:
    tree = compared.trees[side]
    picture = picture_json(tree, trees.drawings(tree).of(places))
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
    place = place_of(compared.trees[side], node or other_node)
    partner = int(compared.partners[side][place])
    return pair_json(compared, (place, partner) if side == LEFT else (partner, place))
