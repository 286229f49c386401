"""Routes of the offline debugger: sessions over dumps with steps, watchpoints and hits, over ``debug``."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.api.v1.debugger import (
    control,
    hits,
    neighbours,
    retrieve,
    search,
    session_routes,
    tensor_files,
    tensors,
    watchpoints,
)

router = APIRouter(tags=["debugger"])
for part in (session_routes, retrieve, search, control, watchpoints, hits, tensors, neighbours, tensor_files):
    router.include_router(part.router, prefix="/debugger/sessions")
