"""Stepping through a dump: on, back, stop, and the check of the current step again."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.api.v1.debugger.lookup import Asked, One, graph_of, known_rank, place_of, takes
from mindinsight.server.api.v1.debugger.session import RUNNING, SENDING, WAITING, Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)

_MOST_STEPS: Final = 2**31 - 1


@router.post(
    "/{session_id}/control",
    openapi_extra=takes("mode (continue, reset, pause, terminate), level (step, node, recheck), steps, name"),
)
def control(session: One, asked: Asked) -> dict[str, Any]:
    """Go on, jump to a step, or stop."""
    mode = asked.get("mode")
    if mode == "continue":
        return _continue(session, asked)
    if mode == "reset":
        return _reset(session, asked)
    if mode == "pause":
        if session.state == WAITING:
            raise V1Error(Fault.DEBUGGER_PAUSE, "Nothing is running.")
        session.pause()
    elif mode == "terminate":
        session.stop()
    else:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter mode must be continue, reset, pause or terminate.")
    return {"metadata": session.facts("state", "enable_recheck")}


@router.post("/{session_id}/recheck")
def recheck(session: One) -> dict[str, Any]:
    """Check the step again, after watchpoints were changed."""
    if not session.can_recheck:
        raise V1Error(Fault.DEBUGGER_RECHECK, "There is nothing to check again.")
    session.recheck()
    return _sending()


def _continue(session: Session, asked: dict[str, Any]) -> dict[str, Any]:
    level = asked.get("level", "step")
    if level == "recheck":
        return recheck(session)
    if level not in ("step", "node"):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter level must be step, node or recheck.")
    steps = 1
    if level == "node":  # a dump holds whole steps: the next node is reached with the next step
        _check_node(session, asked)
    else:
        steps = _whole(asked.get("steps", 1))
        if steps != -1 and not 1 <= steps <= _MOST_STEPS:
            raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter steps must be -1 or from 1 to {_MOST_STEPS}.")
    session.advance(steps)
    return _sending()


def _reset(session: Session, asked: dict[str, Any]) -> dict[str, Any]:
    if asked.get("level", "step") != "step":
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter level must be step.")
    step = _whole(asked.get("steps"))
    if not 0 <= step <= session.total_steps():
        raise V1Error(Fault.DEBUGGER_STEP, f"The dump has steps from 1 to {session.total_steps()}.")
    if session.state in (SENDING, RUNNING):
        raise V1Error(Fault.DEBUGGER_CONTINUE, "The session is busy; wait until its state is waiting.")
    session.reset(step)
    return {"metadata": session.facts("state", "enable_recheck", "step")}


def _check_node(session: Session, asked: dict[str, Any]) -> None:
    if asked.get("name"):
        rank = known_rank(session, asked.get("rank_id", 0))
        graph_name = asked.get("graph_name")
        place_of(graph_of(session, rank, graph_name), asked["name"], graph_name)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter steps must be an integer.")
    return value


def _sending() -> dict[str, Any]:
    """What is answered at once; the work goes on behind it."""
    return {"metadata": {"state": SENDING, "enable_recheck": False}}
