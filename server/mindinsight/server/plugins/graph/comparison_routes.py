"""Routes for the comparison of two graphs: list of differences, both drawings, details of a pair."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query

from mindinsight.server.graph.comparison.graph_comparison import LEFT, RIGHT, Comparison, Side
from mindinsight.server.graph.comparison.graph_verdicts import comparison_claims
from mindinsight.server.graph.encoders import comparison_json
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.scopes.network_outline import choose_initial_scopes
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree
from mindinsight.server.http.bulkhead_routes import CurrentService, GraphRoute
from mindinsight.server.plugins.graph.tree_cache import TreeCache, View, node_index, node_indices, tree_of

_MOST_EDITS: Final = 200  # listed in full; the differences follow in any number

router = APIRouter(route_class=GraphRoute, prefix="/compare")

Limit = Annotated[int, Query(ge=1, le=5000)]
LeftTree = Annotated[Tree, Depends(tree_of)]
OpenScopes = Annotated[
    str | None,
    Query(
        alias="open",
        description="comma-separated indices of the open scopes of the left graph; default: chosen by size",
    ),
]
OtherOpenScopes = Annotated[
    str,
    Query(
        alias="other_open",
        description="comma-separated indices of open scopes of the right graph that have no partner",
    ),
]


def other_tree(
    service: CurrentService,
    other_run: str,
    other_tag: Annotated[str, Query(description="name of the right graph; default: the first by name")] = "",
    view: View = "recorded",
) -> Tree:
    """Return the tree of the right graph. Raises ApiError as `tree_of`. FastAPI dependency."""
    return tree_of(service, other_run, other_tag, view)


RightTree = Annotated[Tree, Depends(other_tree)]


def comparison_of(service: CurrentService, left: LeftTree, right: RightTree) -> Comparison:
    """Return the comparison of the two graphs of a request, from the cache. FastAPI dependency."""
    return service.parts.of(TreeCache).comparison(left, right)


CurrentComparison = Annotated[Comparison, Depends(comparison_of)]


@router.get("/differences")
def differences(comparison: CurrentComparison, limit: Limit = 1000) -> dict[str, Any]:
    """Return claims about the two graphs, counts of operators by state, the edits in full, and the first
    `limit` differences with their total."""
    return {
        "claims": [claim.as_json() for claim in comparison_claims(comparison)],
        **comparison_json.summary(comparison),
        "edits": comparison_json.edits_json(comparison, _MOST_EDITS),
        **comparison_json.list_differences(comparison, limit),
    }


@router.get("/pictures")
def pictures(
    service: CurrentService,
    comparison: CurrentComparison,
    opened: OpenScopes = None,
    other_opened: OtherOpenScopes = "",
) -> dict[str, Any]:
    """Return drawings of both graphs. A scope is open if its partner is. Boxes have a state and counts.
    Without ``open``, the scopes around the first difference are open."""
    trees = service.parts.of(TreeCache)
    left, right = comparison.trees
    if opened is None:
        indices = _initial_scopes(comparison)
    else:
        indices = _with_partners(
            comparison, (set(node_indices(left, opened)), set(node_indices(right, other_opened)))
        )
    unmatched = [index for index in indices[RIGHT] if comparison.partners[RIGHT][index] < 0]
    return {
        "open": sorted(index for index in indices[LEFT] if left.nodes[index] < 0),
        "other_open": sorted(index for index in unmatched if right.nodes[index] < 0),
        "left": _picture(trees, comparison, LEFT, indices[LEFT]),
        "right": _picture(trees, comparison, RIGHT, indices[RIGHT]),
    }


def _initial_scopes(comparison: Comparison) -> tuple[set[int], set[int]]:
    """Return the scopes to open at first: those of both graphs, and those that contain the first
    difference."""
    indices = set[int](), set[int]()
    first = next(iter(comparison_json.list_differences(comparison, 1)["shown"]), None)
    for tree, own, name in zip(comparison.trees, indices, ("left", "right"), strict=True):
        own.update(choose_initial_scopes(tree))
        if first and first[name]:
            own.update(index for index in tree.ancestors(first[name]["id"]) if index != ROOT)
    indices = _with_partners(comparison, indices)
    for tree, own in zip(comparison.trees, indices, strict=True):  # folded layers around open ones
        own.update({outer for index in own for outer in tree.ancestors(index) if outer != ROOT})
    return _with_partners(comparison, indices)


def _with_partners(comparison: Comparison, indices: tuple[set[int], set[int]]) -> tuple[set[int], set[int]]:
    return (
        indices[LEFT] | _partners(comparison, RIGHT, indices[RIGHT]),
        indices[RIGHT] | _partners(comparison, LEFT, indices[LEFT]),
    )


def _partners(comparison: Comparison, side: Side, indices: set[int]) -> set[int]:
    partners = {int(comparison.partners[side][index]) for index in indices}
    return partners - {-1}


def _picture(trees: TreeCache, comparison: Comparison, side: Side, indices: set[int]) -> dict[str, Any]:
    tree = comparison.trees[side]
    picture = drawing_json(tree, trees.drawings(tree).draw(indices))
    for box in picture["boxes"]:
        box.update(comparison_json.box_state(comparison, side, box["id"]))
    return picture


@router.get("/node")
def node(
    comparison: CurrentComparison,
    node: Annotated[str, Query(description="path or index in the left graph")] = "",
    other_node: Annotated[str, Query(description="path or index in the right graph")] = "",
) -> dict[str, Any]:
    """Return a node of either graph, its partner, and their differences. Returns 404 for an unknown node.
    Without a node, the roots are compared. The partner is null if there is none."""
    side: Side = RIGHT if other_node else LEFT
    index = node_index(comparison.trees[side], node or other_node)
    partner = int(comparison.partners[side][index])
    return comparison_json.pair_json(comparison, (index, partner) if side == LEFT else (partner, index))
