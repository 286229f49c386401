"""What a page has to know of the server's settings."""

from __future__ import annotations

from mindinsight.server.api.v1.json_router import JsonRouter

router = JsonRouter(tags=["config"])


@router.get("/ui-config")
def ui_config() -> dict[str, bool]:
    """Whether trainings can be debugged while they run: never, so that pages do not offer it."""
    return {"enable_debugger": False}
