"""Plugin for computational graphs and data pipelines: drawings, search, node details, comparison."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.graph import comparison, nodes, pictures

router = APIRouter()
for part in (pictures, nodes, comparison):
    router.include_router(part.router)

PLUGIN = Plugin(name="graph", router=router)
