"""Plugin of dumps: routes for tensors and operators, fault search and watchpoints, and comparisons."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.dump import (
    chains,
    checkpoint_timeline,
    checkpoint_values,
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
for module in (
    *(listing, tensors, operators, pictures, values, checks, chains, comparisons),
    *(checkpoints, checkpoint_values, checkpoint_timeline, logs),
):
    router.include_router(module.router)

PLUGIN = Plugin(name="dump", router=router)
