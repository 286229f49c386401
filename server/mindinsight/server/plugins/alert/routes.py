"""Plugin of alerts: its routes, gathered."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.alert import listing, rules

router = APIRouter()
for part in (listing, rules):
    router.include_router(part.router)

PLUGIN = Plugin(name="alert", router=router)
