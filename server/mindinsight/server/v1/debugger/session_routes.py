"""Routes that open, list, control and close sessions, and poll their events."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dump_requests import cache_of
from mindinsight.server.store.mounts import disk_path
from mindinsight.server.v1.debugger.debugger_session import RUNNING, SENDING, WAITING, Event, Session
from mindinsight.server.v1.debugger.session_lookup import (
    CurrentSession,
    JsonBody,
    OpenSessions,
    Sessions,
    graph_of,
    known_rank,
    node_index,
)
from mindinsight.server.v1.jobs import CurrentService
from mindinsight.server.v1.v1_parameters import RequiredText, body_schema, first_value
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=DumpRoute)

_ONLINE: Final = "0"  # MindInsight's number of the session of a running training


@router.post(
    "", openapi_extra=body_schema("session_type (OFFLINE) and dump_dir, relative to the base directory")
)
def open_session(service: CurrentService, sessions: Sessions, body: JsonBody) -> str:
    """Return the number of a dump's session, which is opened if there is none."""
    kind = body.get("session_type")
    if kind == "ONLINE":
        raise V1Error(Fault.DEBUGGER_ONLINE, "Online debugging of a running training is not supported.")
    if kind != "OFFLINE":
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter session_type must be OFFLINE.")
    if "dump_dir" not in body:
        raise V1Error(Fault.MISSING, "Parameter dump_dir is missing.")
    dump_id = _dump_id(service, body["dump_dir"])
    return sessions.opening.get(dump_id, lambda: _session(service, sessions, dump_id))


@router.get("")
def open_sessions(sessions: Sessions) -> dict[str, dict[str, str]]:
    """Return the numbers of the open sessions by dump."""
    return {"train_jobs": {session.dump_id: number for number, session in sessions.by_number.copy().items()}}


@router.post("/{session_id}/delete")
def close_session(sessions: Sessions, session_id: str) -> None:
    """Close a session."""
    with sessions.lock:
        session = sessions.by_number.pop(session_id, None)
    if session is None:
        fault = Fault.DEBUGGER_ONLINE if session_id == _ONLINE else Fault.DEBUGGER_SESSION
        raise V1Error(fault, "There is no such session.")
    session.close()


@router.get("/{session_id}/poll-data")
async def poll_data(session: CurrentSession, pos: RequiredText = None) -> Event:
    """Wait up to 25 seconds for the event after a position ("0" for the first)."""
    position = first_value(pos)
    if position is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter pos is missing.")
    return await session.events.wait(position)


def _dump_id(service: Service, dump_dir: object) -> str:
    """Return the id of a dump directory.

    Raises V1Error unless the store has discovered it, so that no other path is opened.
    """
    if not isinstance(dump_dir, str):
        raise V1Error(Fault.TYPE, "Parameter dump_dir must be a string.")
    dump_id = "./" + dump_dir.removeprefix("./").rstrip("/")
    if not any(dump_id in run.dumps for run in service.store.snapshot().runs.values()):
        raise V1Error(Fault.DEBUGGER_RANKS, "Parameter dump_dir is not a dump with rank directories.")
    return dump_id


def _session(service: Service, sessions: OpenSessions, dump_id: str) -> str:
    """Return the number of a dump's session, which is opened if there is none. Raises V1Error."""
    for number, session in sessions.by_number.copy().items():
        if session.dump_id == dump_id:
            return number
    try:
        dump = open_dump(disk_path(service.settings.summary_base_dir, dump_id))
    except (UnreadableError, KeyError):
        raise V1Error(Fault.DEBUGGER_RANKS, "The directory is no longer a dump.") from None
    number, cache = str(next(sessions.numbers)), cache_of(service)
    opened = Session(number, dump_id, dump, service.executor, cache, service.jobs)
    most = service.settings.max_offline_debugger_session_num
    with sessions.lock:
        if len(sessions.by_number) >= most:
            text = f"There are {most} sessions already; close one of them first."
            raise V1Error(Fault.DEBUGGER_SESSIONS, text)
        sessions.by_number[number] = opened
    return number


_MOST_STEPS: Final = 2**31 - 1  # the largest int32


@router.post(
    "/{session_id}/control",
    openapi_extra=body_schema(
        "mode (continue, reset, pause, terminate), level (step, node, recheck), steps, name"
    ),
)
def control(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Continue, jump to a step, pause or terminate. Return the session's state."""
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
    """Check the current step again, after watchpoints have changed. Return the session's state."""
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
    if level == "node":  # a dump holds whole steps, so that the next node is reached with the next step
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
    """Return the immediate response. The work continues in the background."""
    return {"metadata": {"state": SENDING, "enable_recheck": False}}
