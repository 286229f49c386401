"""Plugin of scalars: its routes, gathered. Curves are direct routes (``api/direct_routes.py``)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.scalar import bands, compare, curves, download, layers, ranges

router = APIRouter()
for part in (ranges, compare, bands, layers, download):
    router.include_router(part.router)


@router.post("/tails")
async def tails(
    service: Annotated[Service, Depends(service_of)],
    question: curves.Tails,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """The new points of many series: ``answers``, one for each, as ``tail`` gives it."""
    return curves.new_points(service, question, accept)


PLUGIN = Plugin(name="scalar", router=router)
