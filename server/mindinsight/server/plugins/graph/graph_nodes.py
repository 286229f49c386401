"""Routes for the graphs of a run: drawings, search, children, details and dependencies of nodes."""

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from mindinsight.server.claims import Claim
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.graphs.call_stacks import stacks_of
from mindinsight.server.graph import search as graph_search
from mindinsight.server.graph.encoders import node_json
from mindinsight.server.graph.encoders.drawing_json import drawing_json, figure_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, has_training
from mindinsight.server.graph.model.node_details import source_lines
from mindinsight.server.graph.scopes.network_outline import choose_initial_scopes
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree
from mindinsight.server.http.bulkhead_routes import CurrentService, GraphRoute
from mindinsight.server.http.indices import indices_of
from mindinsight.server.plugins.graph import tree_cache
from mindinsight.server.plugins.graph.tree_cache import Tag, TreeCache, View, node_index, tree_of

router = APIRouter(route_class=GraphRoute)

_MOST_HITS: Final = 20_000  # indices in a response

CurrentTree = Annotated[Tree, Depends(tree_of)]


@router.get("/search")
def search(
    tree: CurrentTree,
    q: Annotated[
        str,
        Query(
            max_length=200,
            description="parts of a name, of a path where they contain a slash; and type:MatMul "
            "shape:*x50257 dtype:float16 attr:strides=2",
        ),
    ] = "",
    regex: bool = False,
    type: Annotated[list[str] | None, Query(description="operator types")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Return the first `limit` nodes that match, nested in their scopes, and separately parameters and
    constants. Returns 400 for an invalid regular expression. `hits` are the indices of all matches, in the
    order of the graph, up to 20 000."""
    try:
        query = graph_search.parse_query(q, regex)
    except graph_search.BadPattern as error:
        raise ApiError(400, "bad_pattern", f"The pattern is invalid: {error}.", why=str(error)) from error
    matches = graph_search.query_nodes(tree, query, type or [])
    outer = graph_search.query_outer(tree, query) if q and not type else []
    first_matches = set(matches[:limit])

    def branch(index: int, inside: list[dict[str, Any]]) -> dict[str, Any]:
        return {**node_json.entry(tree, index), "found": index in first_matches, "inside": inside}

    return {
        "total": len(matches),
        "hits": sorted(matches[:_MOST_HITS]),
        "shown": len(first_matches),
        "tree": graph_search.nest(tree, matches[:limit], branch),
        "outer_total": len(outer),
        "outer": [node_json.outer_entry(tree, node) for node in outer[:limit]],
    }


@router.get("/inside")
def inside(
    tree: CurrentTree, node: Annotated[str, Query(description="path or index of a scope")] = ""
) -> dict[str, Any]:
    """Return the children of a scope, or of the root without `node`, as `inside`, for browsing without a
    drawing. Returns 404 for an unknown node."""
    index = node_index(tree, node) if node else ROOT
    return {"inside": [node_json.entry(tree, child) for child in tree.children(index)]}


@router.get("/node")
def node(
    tree: CurrentTree,
    service: CurrentService,
    node: Annotated[str, Query(description="path or index")],
    nearest: Annotated[bool, Query(description="an enclosing scope if the path is not found")] = False,
) -> dict[str, Any]:
    """Return details of a scope or an operator: its costs, its call stacks, the scopes identical to it.
    Returns 404 for an unknown node."""
    index = tree_cache.nearest_index(tree, node) if nearest else node_index(tree, node)
    graph_node = int(tree.nodes[index])
    stacks = stacks_of(source_lines(tree.graph, graph_node)) if graph_node >= 0 else ()
    costs = service.parts.of(TreeCache).drawings(tree).costs
    rows = [[asdict(frame) for frame in stack] for stack in stacks]
    return {**node_json.describe_node(tree, index), **node_json.costs_json(costs, index), "stacks": rows}


@router.get("/flow")
def flow(
    tree: CurrentTree,
    source: Annotated[str, Query(description="path or index of a box")],
    target: Annotated[str, Query(description="path or index of a box; either may enclose the other")],
) -> dict[str, Any]:
    """Return the values that flow along an edge of the drawing: their producing and consuming operators.
    Returns 404 for an unknown node."""
    return node_json.flow_json(tree, node_index(tree, source), node_index(tree, target))


@router.get("/card")
def card(tree: CurrentTree, service: CurrentService) -> dict[str, Any]:
    """Return the entries of the model card in order of execution, with parameters, bytes and floating
    point operations. `uncounted` operators are missing in `flops`. `roles` counts tensors of the graph,
    `guessed` those whose role comes from their name.
    """
    return node_json.model_card_json(tree, service.parts.of(TreeCache).drawings(tree).costs)


@router.get("/outer")
def outer(
    tree: CurrentTree,
    node: Annotated[int | None, Query(ge=0, description="node number from another response")] = None,
    name: Annotated[str, Query(description="name of a parameter, used without a number")] = "",
) -> dict[str, Any]:
    """Return details of a parameter or a constant. Returns 404 if there is none with this number or name."""
    graph = tree.graph
    if node is None and name in graph.names:
        node = graph.names.index(name)
    if node is None or node >= len(graph) or graph.kinds[node] == OPERATOR:
        unknown = name if node is None else node
        raise ApiError(404, "unknown_node", f"There is no parameter or constant {unknown}.", node=unknown)
    return node_json.describe_outer(tree, node)


class Names(BaseModel):
    """Body with paths of scopes or operators, or with names of parameters and constants."""

    names: list[str] = Field(max_length=500_000)


@router.post("/indices")
def indices(tree: CurrentTree, body: Names) -> dict[str, Any]:
    """Return the index of each path in the tree of the graph, -1 for unknown paths."""
    return {"indices": [tree.indices.get(name, -1) for name in body.names]}


@router.get("/trace")
def traced(
    tree: CurrentTree,
    node: Annotated[str, Query(description="path or index")],
    direction: graph_search.Direction = "up",
    shown: Annotated[str, Query(description="comma-separated indices of the boxes in the drawing")] = "",
) -> dict[str, Any]:
    """Return the number of operators that a node depends on (up) or that depend on it (down), in total and by
    box. Returns 404 for an unknown node."""
    leaves = graph_search.trace(tree, node_index(tree, node), direction)
    boxes = graph_search.count_by_box(tree, tree_cache.node_indices(tree, shown), leaves)
    return {"operators": len(leaves), "boxes": list(boxes), "counts": list(boxes.values())}


OpenScopes = Annotated[
    str | None,
    Query(
        alias="open",
        description="comma-separated indices of open scopes, or all,-5 for all except 5; default: by size",
    ),
]

AnyView = Annotated[
    View | Literal["auto"],
    Query(description="auto: simplified if the graph has a backward pass, else recorded"),
]
FlatScopes = Annotated[
    str | None,
    Query(
        alias="flat",
        description="comma-separated indices of scopes that show their operators without the scopes between",
    ),
]


@router.get("/graphs")
def graphs(service: CurrentService, run: str) -> dict[str, Any]:
    """Return the tags of a run's graphs, and if its data pipeline was recorded. `newest` is, by tag, the
    number of graphs and the size of the last one in bytes. A change of either means a new graph."""
    record = service.store.snapshot().run(run)
    series = record.references.get("graph", {})
    tags = sorted(series, key=lambda tag: (tag != "ms_output_optimize.pb", tag))
    pipeline = bool(record.lineage and record.lineage.dataset_graph)
    newest = {tag: [series[tag].count, series[tag].reference(series[tag].count - 1).size] for tag in tags}
    claims = [] if tags or pipeline else [Claim("claim.graph.none", "note", {"run": record.name}).as_json()]
    return {"run": run, "tags": tags, "newest": newest, "dataset": pipeline, "claims": claims}


@router.get("/picture")
def picture(
    service: CurrentService,
    run: str,
    tag: Tag = "",
    view: AnyView = "recorded",
    opened: OpenScopes = None,
    flat: FlatScopes = None,
    attribute: Annotated[str, Query(description="shown in operators instead of their outputs")] = "",
) -> dict[str, Any]:
    """Return a drawing of a graph with the given scopes open, and counts over the whole graph. `flat`
    lists the scopes that are drawn flat. Scopes with too many operators are not."""
    tree = tree_of(service, run, tag, "recorded" if view == "auto" else view)
    if view == "auto":
        view = "simplified" if has_training(tree.graph) else "recorded"
        tree = tree_of(service, run, tag, view)
    indices = choose_initial_scopes(tree) if opened is None else tree_cache.scopes_of(tree, opened)
    drawings = service.parts.of(TreeCache).drawings(tree)
    flattened = drawings.flattened(indices_of(flat, len(tree.paths)))
    kinds = {"operators": OPERATOR, "parameters": PARAMETER, "constants": CONSTANT}
    return {
        **{name: int((tree.graph.kinds == kind).sum()) for name, kind in kinds.items()},
        "roles": drawings.costs.roles,
        "view": view,
        "name": tree.graph.name,
        **{name: getattr(tree.graph.losses, name) for name in ("nameless", "dangling", "unreadable")},
        "open": indices,
        "flat": flattened,
        **drawing_json(tree, drawings.draw(indices, attribute, flattened)),
    }


@router.get("/types")
def types(tree: CurrentTree) -> dict[str, Any]:
    """Return the number of operators of each type, most frequent first."""
    return {"types": graph_search.count_types(tree)}


@router.get("/figure")
def figure(
    tree: CurrentTree,
    opened: OpenScopes = None,
    flat: FlatScopes = None,
    theme: Literal["light", "dark"] = "light",
) -> dict[str, Any]:
    """Return a drawing of a graph as a Plotly figure."""
    indices = choose_initial_scopes(tree) if opened is None else tree_cache.scopes_of(tree, opened)
    return figure_json(tree, draw(tree, indices, indices_of(flat, len(tree.paths))), theme)
