"""Computational graphs: the nodes of a scope, all leaves, search, and all levels down to a node."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from fastapi import Depends, Query

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import NeededText, Number, Text, first, integer, required, train
from mindinsight.server.api.v1.plugins import OPTIMIZED, tags_of
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.encoders import v1
from mindinsight.server.graph.model.simplify import simplify
from mindinsight.server.graph.scopes.build import Folding, build_tree
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.plugins.graph.tree_cache import TreeCache

router = JsonRouter(route_class=GraphRoute, prefix="/datavisual/graphs", tags=["graphs"])

_NORMAL: Final = "normal"
_OPTIMIZE: Final = "optimize"
_LEAST_OF_A_TYPE: Final = 10  # operators that the simplified view puts together


def tree_of(
    service: CurrentService,
    train_id: NeededText = None,
    tag: Annotated[list[str] | None, Query(description="the first one by name when it is left out")] = None,
    mode: Annotated[list[str] | None, Query(description="normal or optimize")] = None,
) -> Tree:
    """The tree that the parameters common to all calls name."""
    view = first(mode) or _NORMAL
    if view not in (_NORMAL, _OPTIMIZE):
        raise V1Error(Fault.VALUE, "Parameter mode must be normal or optimize.")
    run = train(service.store.snapshot(), required(train_id, "train_id"))
    tags = tags_of(run)["graph" if view == _NORMAL else "optimized_graph"]
    name = min(tags, default="") if tag is None else first(tag)
    if name not in tags:
        raise V1Error(Fault.GRAPH, "Parameter tag names no graph of this train job.")
    series = run.references["graph"][str(name) if view == _NORMAL else str(name).removesuffix(OPTIMIZED)]
    make = partial(tree_in, simplified=view == _OPTIMIZE)
    return service.parts.of(TreeCache).newest(series, f"v1 {view}", make, service.openers)


CurrentTree = Annotated[Tree, Depends(tree_of)]


@router.get("/nodes")
def nodes(tree: CurrentTree, name: Text = None) -> dict[str, Any]:
    """The nodes directly inside a scope; of the top without a name."""
    return {"nodes": v1.children(tree, first(name) or "")}


@router.get("/nodes/all")
def all_nodes(tree: CurrentTree, name: Text = None) -> dict[str, Any]:
    """All leaves below a scope, depth first."""
    return {"all_nodes_detail": v1.all_leaves(tree, first(name) or "")}


@router.get("/nodes/names")
def names(
    tree: CurrentTree, search: Text = None, offset: Number = None, limit: Number = None
) -> dict[str, Any]:
    """The nodes whose path ends in what is searched, in the scopes around them."""
    page = integer(offset, "offset", 0, 0)
    rows = integer(limit, "limit", 100, 1, 1000)
    return {"nodes": v1.search_names(tree, first(search) or "", page, rows)}


@router.get("/single-node")
def single_node(tree: CurrentTree, name: NeededText = None) -> dict[str, Any]:
    """All levels from the top to the one that holds a node."""
    return v1.levels(tree, required(name, "name"))


def tree_in(data: bytes, simplified: bool) -> Tree:
    """The tree of a graph in bytes as MindInsight folds it. Raises UnreadableError."""
    graph = read_graph(data)
    return build_tree(simplify(graph), Folding(least=_LEAST_OF_A_TYPE)) if simplified else build_tree(graph)
