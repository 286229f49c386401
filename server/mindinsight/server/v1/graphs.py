"""Routes for computational graphs: nodes of a scope, all leaves, search, and the levels down to a node."""

from functools import partial
from typing import Annotated, Any, Final

from fastapi import Depends

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders import v1_graph
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.scope_tree import Folding, Tree, build_tree
from mindinsight.server.http.bulkhead_routes import CurrentService, GraphRoute
from mindinsight.server.plugins.graph.tree_cache import TreeCache
from mindinsight.server.v1.jobs import OPTIMIZED, tags_of
from mindinsight.server.v1.v1_parameters import LoadedRun, Page, integer, optional_text, required_text
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=GraphRoute, prefix="/datavisual/graphs", tags=["graphs"])

_NORMAL: Final = "normal"
_OPTIMIZE: Final = "optimize"
_LEAST_OF_A_TYPE: Final = 10  # operators of a type in a scope from which the simplified view groups them


async def mode_of(mode: Annotated[str | None, optional_text("mode", "normal or optimize")]) -> str:
    """Return the parameter mode, normal by default. FastAPI dependency. Raises V1Error if it is neither
    normal nor optimize."""
    if mode not in (None, "", _NORMAL, _OPTIMIZE):
        raise V1Error(Fault.VALUE, "Parameter mode must be normal or optimize.")
    return mode or _NORMAL


def tree_of(
    service: CurrentService,
    view: Annotated[str, Depends(mode_of)],  # first, so that its error is the first to be reported
    run: LoadedRun,
    tag: Annotated[str | None, optional_text("tag", "default: the first by name")],
) -> Tree:
    """Return the tree selected by the parameters common to all routes. FastAPI dependency. Raises V1Error if
    the run has no graph with this tag, or it cannot be read."""
    tags = tags_of(run)["graph" if view == _NORMAL else "optimized_graph"]
    name = min(tags, default="") if tag is None else tag
    if name not in tags:
        raise V1Error(Fault.GRAPH, "Parameter tag does not match any graph of this train job.")
    series = run.references["graph"][name.removesuffix(OPTIMIZED) if view == _OPTIMIZE else name]
    make = partial(tree_in, simplified=view == _OPTIMIZE)
    try:
        return service.parts.of(TreeCache).newest(series, f"v1 {view}", make, service.openers)
    except UnreadableError as error:
        raise V1Error(Fault.GRAPH, f"The graph cannot be read: {error.detail}.") from error


CurrentTree = Annotated[Tree, Depends(tree_of)]
Scope = Annotated[str | None, optional_text("name")]


@router.get("/nodes")
def nodes(tree: CurrentTree, name: Scope) -> dict[str, Any]:
    """Return the nodes directly inside a scope, or inside the root without a name, as `nodes`. Returns an
    error for an unknown scope."""
    return {"nodes": v1_graph.children(tree, name or "")}


@router.get("/nodes/all")
def all_nodes(tree: CurrentTree, name: Scope) -> dict[str, Any]:
    """Return all leaves below a scope, by default the root, as `all_nodes_detail`, depth first. Returns an
    error for an unknown scope, and for a scope with too many edges."""
    return {"all_nodes_detail": v1_graph.all_leaves(tree, name or "")}


@router.get("/nodes/names")
def names(
    tree: CurrentTree,
    search: Annotated[str | None, optional_text("search")],
    page: Page,
    rows: Annotated[int, integer("limit", 100, 1, 1000)],
) -> dict[str, Any]:
    """Return a page of the nodes with a path that ends with `search`, nested in their scopes. `offset`
    counts pages of `limit` nodes."""
    return {"nodes": v1_graph.search_names(tree, search or "", page, rows)}


@router.get("/single-node")
def single_node(tree: CurrentTree, name: Annotated[str, required_text("name")]) -> dict[str, Any]:
    """Return the nodes of each level from the root to the level of a node. Returns an error for an unknown
    node."""
    return v1_graph.levels(tree, name)


def tree_in(data: bytes, simplified: bool) -> Tree:
    """Decode a graph and build its tree by MindInsight's rules. Raises UnreadableError."""
    graph = read_graph(data)
    return build_tree(simplify(graph), Folding(least=_LEAST_OF_A_TYPE)) if simplified else build_tree(graph)
