"""Plugin of scalars: its routes, gathered."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.scalar import bands, compare, curves, download, layers, ranges

router = APIRouter()
for part in (curves, ranges, compare, bands, layers, download):
    router.include_router(part.router)
router.include_router(curves.posted)

PLUGIN = Plugin(name="scalar", router=router)
