"""Dumps: what every operator of a step took and gave, where it went wrong, and how two dumps differ."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.dump import (
    checkpoints,
    checks,
    comparisons,
    listing,
    logs,
    operators,
    pictures,
    tensors,
    values,
)


@asynccontextmanager
async def _ending(app: FastAPI) -> AsyncIterator[None]:
    """When the server ends, so does the work on dumps; the pool it uses will be gone."""
    yield
    if hasattr(app.state, "dump_sessions"):
        app.state.dump_sessions.stop()


router = APIRouter(lifespan=_ending)
for part in (listing, tensors, operators, pictures, values, checks, comparisons, checkpoints, logs):
    router.include_router(part.router)

PLUGIN = Plugin(name="dump", order=80, router=router, needs=("dump",))
