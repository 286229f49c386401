"""Plugin of scalars: its routes, gathered. Curves are direct routes (``api/direct_routes.py``)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.scalar import curve_analyses, curve_routes

router = APIRouter()
for part in (curve_analyses,):
    router.include_router(part.router)


@router.post("/tails")
async def tails(
    service: Annotated[Service, Depends(service_of)],
    question: curve_routes.Tails,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """The new points of many series: ``answers``, one for each, as ``tail`` gives it."""
    return curve_routes.new_points(service, question, accept)


PLUGIN = Plugin(name="scalar", router=router)
