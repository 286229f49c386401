"""Routes for what this server does not have, so that pages of MindInsight say so or do not offer it."""

from __future__ import annotations

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter

router = JsonRouter(tags=["config"])


@router.get("/ui-config")
def ui_config() -> dict[str, bool]:
    """Whether trainings can be debugged while they run: never, so that pages do not offer it."""
    return {"enable_debugger": False}


@router.get("/profile/{path:path}", include_in_schema=False)
@router.post("/profile/{path:path}", include_in_schema=False)
def profile(path: str) -> dict[str, bool]:
    """The calls of the profiler's pages, which stay blank without an error that they know."""
    raise V1Error(Fault.PROFILE, "This server shows no profiles; open the folder with MindStudio Insight.")
