"""Plugin for computational graphs and data pipelines: drawings, search, node details, comparison."""

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.graph import comparison_routes, graph_nodes, pipeline_routes

router = APIRouter()
for part in (graph_nodes, comparison_routes, pipeline_routes):
    router.include_router(part.router)

PLUGIN = Plugin(name="graph", router=router)
