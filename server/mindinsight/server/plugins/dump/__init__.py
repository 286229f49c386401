"""Dumps: what every operator of a step took and gave, where it went wrong, and how two dumps differ."""

from __future__ import annotations

from fastapi import APIRouter

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

router = APIRouter()
for part in (listing, tensors, operators, pictures, values, checks, comparisons, checkpoints, logs):
    router.include_router(part.router)

PLUGIN = Plugin(name="dump", order=80, router=router, needs=("dump",))
