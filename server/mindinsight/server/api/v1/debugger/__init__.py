"""The offline debugger: sessions over dumps, stepped through and watched; a face over ``debug``."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.api.v1.debugger import (
    control,
    files,
    graphs,
    hits,
    neighbours,
    opening,
    searching,
    tensors,
    watching,
)

router = APIRouter(tags=["debugger"])
for part in (opening, graphs, searching, control, watching, hits, tensors, neighbours, files):
    router.include_router(part.router, prefix="/debugger/sessions")
