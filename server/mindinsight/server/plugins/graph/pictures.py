"""Routes for the graphs of a run, and the drawing of a graph with some of its scopes open."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query

from mindinsight.server.claims import Claim
from mindinsight.server.graph.encoders.drawing import drawing_json
from mindinsight.server.graph.encoders.plotly import figure_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER
from mindinsight.server.graph.model.training import has_training
from mindinsight.server.graph.scopes.initial_scopes import choose_initial_scopes
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.graph.search.node_search import count_types
from mindinsight.server.http.bulkhead_routes import GraphRoute
from mindinsight.server.http.indices import indices_of
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.graph.tree_cache import Tag, TreeCache, View, scopes_of, tree_of

router = APIRouter(route_class=GraphRoute)

OpenScopes = Annotated[
    str | None,
    Query(
        alias="open",
        description="comma-separated indices of the open scopes, or all,-5: all but 5; chosen when left out",
    ),
]

FlatScopes = Annotated[
    str | None,
    Query(
        alias="flat",
        description="comma-separated indices of scopes that show their operators without the scopes between",
    ),
]


@router.get("/graphs")
def graphs(service: Annotated[Service, Depends(service_of)], run: str) -> dict[str, Any]:
    """Tags of a run's graphs, and whether its data pipeline was recorded.

    ``newest`` is, by tag, the number of graphs and the size of the last one in bytes: when either changes,
    there is a new graph.
    """
    record = service.store.snapshot().run(run)
    series = record.references.get("graph", {})
    tags = sorted(series, key=lambda tag: (tag != "ms_output_optimize.pb", tag))
    pipeline = bool(record.lineage and record.lineage.dataset_graph)
    newest = {tag: [series[tag].count, series[tag].reference(series[tag].count - 1).size] for tag in tags}
    claims = [] if tags or pipeline else [Claim("claim.graph.none", "note", {"run": record.name}).as_json()]
    return {"run": run, "tags": tags, "newest": newest, "dataset": pipeline, "claims": claims}


@router.get("/picture")
def picture(
    service: Annotated[Service, Depends(service_of)],
    run: str,
    tag: Tag = "",
    view: Annotated[
        View | Literal["auto"],
        Query(description="auto: simplified where the graph has a backward pass, else recorded"),
    ] = "recorded",
    opened: OpenScopes = None,
    flat: FlatScopes = None,
    attribute: Annotated[str, Query(description="shown in operators instead of their outputs")] = "",
) -> dict[str, Any]:
    """Drawing of a graph with the given scopes open, and counts over the whole graph.

    ``flat`` are the scopes that are drawn flat: those with too many operators for it are left out.
    """
    tree = tree_of(service, run, tag, "recorded" if view == "auto" else view)
    if view == "auto":
        view = "simplified" if has_training(tree.graph) else "recorded"
        tree = tree_of(service, run, tag, view)
    indices = choose_initial_scopes(tree) if opened is None else scopes_of(tree, opened)
    drawings = service.parts.of(TreeCache).drawings(tree)
    flattened = drawings.flattened(indices_of(flat, len(tree.paths)))
    counts = {
        name: int((tree.graph.kinds == kind).sum())
        for name, kind in (("operators", OPERATOR), ("parameters", PARAMETER), ("constants", CONSTANT))
    }
    losses = tree.graph.losses
    return {
        **counts,
        "view": view,
        "name": tree.graph.name,
        "nameless": losses.nameless,
        "dangling": losses.dangling,
        "unreadable": losses.unreadable,
        "open": indices,
        "flat": flattened,
        **drawing_json(tree, drawings.draw(indices, attribute, flattened)),
    }


@router.get("/types")
def types(tree: Annotated[Tree, Depends(tree_of)]) -> dict[str, Any]:
    """Number of operators of each type, most frequent first."""
    return {"types": count_types(tree)}


@router.get("/figure")
def figure(
    tree: Annotated[Tree, Depends(tree_of)],
    opened: OpenScopes = None,
    flat: FlatScopes = None,
    theme: Literal["light", "dark"] = "light",
) -> dict[str, Any]:
    """Drawing of a graph as a Plotly figure."""
    indices = choose_initial_scopes(tree) if opened is None else scopes_of(tree, opened)
    return figure_json(tree, draw(tree, indices, indices_of(flat, len(tree.paths))), theme)
