"""Routes of the offline debugger: sessions over dumps with steps, watchpoints and hits, over ``debug``."""

from fastapi import APIRouter

from mindinsight.server.v1.debugger import session_routes, tensor_routes, watchpoint_routes

router = APIRouter(tags=["debugger"])
for part in (session_routes, watchpoint_routes, tensor_routes):
    router.include_router(part.router, prefix="/debugger/sessions")
