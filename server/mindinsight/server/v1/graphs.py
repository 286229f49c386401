"""Routes for computational graphs: nodes of a scope, all leaves, search, and the levels down to a node."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from fastapi import Depends, Query

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders import v1_graph
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.scope_tree import Folding, Tree, build_tree
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.plugins.graph.tree_cache import TreeCache
from mindinsight.server.v1.jobs import OPTIMIZED, CurrentService, tags_of
from mindinsight.server.v1.v1_parameters import (
    Number,
    RequiredText,
    Text,
    first_value,
    integer,
    loaded_run,
    required,
)
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=GraphRoute, prefix="/datavisual/graphs", tags=["graphs"])

_NORMAL: Final = "normal"
_OPTIMIZE: Final = "optimize"
_LEAST_OF_A_TYPE: Final = 10  # operators of a type in a scope from which the simplified view groups them


def tree_of(
    service: CurrentService,
    train_id: RequiredText = None,
    tag: Annotated[list[str] | None, Query(description="default: the first by name")] = None,
    mode: Annotated[list[str] | None, Query(description="normal or optimize")] = None,
) -> Tree:
    """FastAPI dependency. Return the tree selected by the parameters common to all routes. Raises V1Error."""
    view = first_value(mode) or _NORMAL
    if view not in (_NORMAL, _OPTIMIZE):
        raise V1Error(Fault.VALUE, "Parameter mode must be normal or optimize.")
    run = loaded_run(service.store.snapshot(), required(train_id, "train_id"))
    tags = tags_of(run)["graph" if view == _NORMAL else "optimized_graph"]
    name = min(tags, default="") if tag is None else first_value(tag)
    if name not in tags:
        raise V1Error(Fault.GRAPH, "Parameter tag does not match any graph of this train job.")
    series = run.references["graph"][str(name) if view == _NORMAL else str(name).removesuffix(OPTIMIZED)]
    make = partial(tree_in, simplified=view == _OPTIMIZE)
    try:
        return service.parts.of(TreeCache).newest(series, f"v1 {view}", make, service.openers)
    except UnreadableError as error:
        raise V1Error(Fault.GRAPH, f"The graph cannot be read: {error.detail}.") from error


CurrentTree = Annotated[Tree, Depends(tree_of)]


@router.get("/nodes")
def nodes(tree: CurrentTree, name: Text = None) -> dict[str, Any]:
    """Return the nodes directly inside a scope, or inside the root without a name."""
    return {"nodes": v1_graph.children(tree, first_value(name) or "")}


@router.get("/nodes/all")
def all_nodes(tree: CurrentTree, name: Text = None) -> dict[str, Any]:
    """Return all leaves below a scope, depth first."""
    return {"all_nodes_detail": v1_graph.all_leaves(tree, first_value(name) or "")}


@router.get("/nodes/names")
def names(
    tree: CurrentTree, search: Text = None, offset: Number = None, limit: Number = None
) -> dict[str, Any]:
    """Return the nodes with a path that ends with `search`, nested in their scopes. `offset` counts pages."""
    page = integer(offset, "offset", 0, 0)
    rows = integer(limit, "limit", 100, 1, 1000)
    return {"nodes": v1_graph.search_names(tree, first_value(search) or "", page, rows)}


@router.get("/single-node")
def single_node(tree: CurrentTree, name: RequiredText = None) -> dict[str, Any]:
    """Return the nodes of each level from the root to the level of a node."""
    return v1_graph.levels(tree, required(name, "name"))


def tree_in(data: bytes, simplified: bool) -> Tree:
    """Decode a graph and build its tree by MindInsight's rules. Raises UnreadableError."""
    graph = read_graph(data)
    return build_tree(simplify(graph), Folding(least=_LEAST_OF_A_TYPE)) if simplified else build_tree(graph)
