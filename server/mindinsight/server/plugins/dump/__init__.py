"""Plugin of dumps: routes for tensors and operators, fault search and watchpoints, and comparisons."""

from fastapi import APIRouter

from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.dump import (
    checkpoint_routes,
    compared_pairs,
    dump_comparisons,
    dump_listing,
    fault_routes,
    step_drawing,
    tensor_table,
    tensor_values,
)

router = APIRouter()
for module in (dump_listing, tensor_table, step_drawing, tensor_values, fault_routes, dump_comparisons):
    router.include_router(module.router)
router.include_router(compared_pairs.router)
router.include_router(checkpoint_routes.router)

PLUGIN = Plugin(name="dump", router=router)
