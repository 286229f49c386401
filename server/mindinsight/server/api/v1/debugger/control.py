"""Routes that control a session: advance, reset, pause, terminate, recheck."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.api.v1.debugger.lookup import (
    CurrentSession,
    JsonBody,
    body_schema,
    graph_of,
    known_rank,
    node_index,
)
from mindinsight.server.api.v1.debugger.session import RUNNING, SENDING, WAITING, Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)

_MOST_STEPS: Final = 2**31 - 1


@router.post(
    "/{session_id}/control",
    openapi_extra=body_schema(
        "mode (continue, reset, pause, terminate), level (step, node, recheck), steps, name"
    ),
)
def control(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Continue, jump to a step, pause or terminate."""
    mode = body.get("mode")
    if mode == "continue":
        return _continue(session, body)
    if mode == "reset":
        return _reset(session, body)
    if mode == "pause":
        if session.state == WAITING:
            raise V1Error(Fault.DEBUGGER_PAUSE, "Nothing is running.")
        session.pause()
    elif mode == "terminate":
        session.stop()
    else:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter mode must be continue, reset, pause or terminate.")
    return {"metadata": session.status("state", "enable_recheck")}


@router.post("/{session_id}/recheck")
def recheck(session: CurrentSession) -> dict[str, Any]:
    """Check the current step again, after watchpoints have changed."""
    if not session.can_recheck:
        raise V1Error(Fault.DEBUGGER_RECHECK, "There is nothing to recheck.")
    session.recheck()
    return _accepted()


def _continue(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    level = body.get("level", "step")
    if level == "recheck":
        return recheck(session)
    if level not in ("step", "node"):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter level must be step, node or recheck.")
    steps = 1
    if level == "node":  # a dump holds whole steps: the next node is reached with the next step
        _check_node(session, body)
    else:
        steps = _integer(body.get("steps", 1))
        if steps != -1 and not 1 <= steps <= _MOST_STEPS:
            raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter steps must be -1 or from 1 to {_MOST_STEPS}.")
    session.advance(steps)
    return _accepted()


def _reset(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    if body.get("level", "step") != "step":
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter level must be step.")
    step = _integer(body.get("steps"))
    if not 0 <= step <= session.total_steps():
        raise V1Error(Fault.DEBUGGER_STEP, f"The dump has steps from 1 to {session.total_steps()}.")
    if session.state in (SENDING, RUNNING):
        raise V1Error(Fault.DEBUGGER_CONTINUE, "The session is busy; wait until its state is waiting.")
    session.reset(step)
    return {"metadata": session.status("state", "enable_recheck", "step")}


def _check_node(session: Session, body: dict[str, Any]) -> None:
    if body.get("name"):
        rank = known_rank(session, body.get("rank_id", 0))
        graph_name = body.get("graph_name")
        node_index(graph_of(session, rank, graph_name), body["name"], graph_name)


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter steps must be an integer.")
    return value


def _accepted() -> dict[str, Any]:
    """Immediate response; the work continues in the background."""
    return {"metadata": {"state": SENDING, "enable_recheck": False}}
