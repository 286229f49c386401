"""Plugin of scalars: its routes. Curves are direct routes (`api/direct_routes.py`)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from mindinsight.server.http.bulkhead_routes import Accept, CurrentService
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.scalar import curve_analyses, curve_routes

router = APIRouter()
router.include_router(curve_analyses.router)


@router.post("/tails")
async def tails(service: CurrentService, question: curve_routes.Tails, accept: Accept = "") -> Response:
    """Return the new points of many series: `answers`, one for each, in the form of `tail`."""
    return curve_routes.new_points(service, question, accept)


PLUGIN = Plugin(name="scalar", router=router)
