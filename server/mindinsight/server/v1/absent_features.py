"""Routes for features this server does not have, so that MindInsight's pages hide them or say so."""

from __future__ import annotations

from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(tags=["config"])


@router.get("/ui-config")
def ui_config() -> dict[str, bool]:
    """Return the configuration of MindInsight's pages, with online debugging disabled."""
    return {"enable_debugger": False}


@router.get("/profile/{path:path}", include_in_schema=False)
@router.post("/profile/{path:path}", include_in_schema=False)
def profile(path: str) -> dict[str, bool]:
    """Fail every call of the profiler's pages with an error that they know. Otherwise they stay blank."""
    raise V1Error(Fault.PROFILE, "This server shows no profiles; open the folder with MindStudio Insight.")
