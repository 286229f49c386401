"""What a page has to know of the server's settings."""

from __future__ import annotations

from fastapi import APIRouter

from mindinsight.server.api.v1.jobs import Uses

router = APIRouter(tags=["config"])


@router.get("/ui-config")
def ui_config(service: Uses) -> dict[str, bool]:
    """Whether the debugger of running trainings is switched on."""
    return {"enable_debugger": service.settings.enable_debugger}
