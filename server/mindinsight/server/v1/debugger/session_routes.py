"""Routes that open, control and close sessions, and return their state, events and graph."""

from importlib.metadata import version
from typing import Annotated, Any, Final

from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.scopes.scope_tree import ROOT
from mindinsight.server.graph.search import match_end_of_path, nest
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dump_requests import cache_of
from mindinsight.server.store.mounts import disk_path
from mindinsight.server.v1.debugger import debugger_json, debugger_session, session_lookup
from mindinsight.server.v1.debugger.debugger_session import DumpGraph, Event, Session, display_name
from mindinsight.server.v1.debugger.session_lookup import CurrentSession, JsonBody, graph_of, known_rank
from mindinsight.server.v1.v1_parameters import Page, integer, optional_text, to_integer
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=DumpRoute)

_ONLINE: Final = "0"  # MindInsight's number of the session of a running training


@router.post_json("", "session_type (OFFLINE) and dump_dir, relative to the base directory")
def open_session(service: CurrentService, sessions: session_lookup.Sessions, body: JsonBody) -> str:
    """Return the number of a dump's session, which is opened if there is none. Returns an error if the
    directory is not a dump, or too many sessions are open."""
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
def open_sessions(sessions: session_lookup.Sessions) -> dict[str, dict[str, str]]:
    """Return the number of the open session of each dump, by dump, under `train_jobs`, which is empty if none
    is open."""
    return {"train_jobs": {session.dump_id: number for number, session in sessions.by_number.copy().items()}}


@router.post("/{session_id}/delete")
def close_session(sessions: session_lookup.Sessions, session_id: str) -> None:
    """Close a session. Returns an error if there is none with this number."""
    with sessions.lock:
        session = sessions.by_number.pop(session_id, None)
    if session is None:
        fault = Fault.DEBUGGER_ONLINE if session_id == _ONLINE else Fault.DEBUGGER_SESSION
        raise V1Error(fault, "There is no such session.")
    session.close()


@router.get("/{session_id}/poll-data")
async def poll_data(
    session: CurrentSession, pos: Annotated[str | None, optional_text("pos", needed=True)]
) -> Event:
    """Return the event after a position ("0" for the first), or only the position if there is none within 25
    seconds. Returns an error without a position."""
    if pos is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter pos is missing.")
    return await session.events.wait(pos)


def _dump_id(service: Service, dump_dir: object) -> str:
    """Return the id of a dump directory. Raises V1Error unless the store has discovered it, so that no other
    path is opened."""
    if not isinstance(dump_dir, str):
        raise V1Error(Fault.TYPE, "Parameter dump_dir must be a string.")
    dump_id = "./" + dump_dir.removeprefix("./").rstrip("/")
    if not any(dump_id in run.dumps for run in service.store.snapshot().runs.values()):
        raise V1Error(Fault.DEBUGGER_RANKS, "Parameter dump_dir is not a dump with rank directories.")
    return dump_id


def _session(service: Service, sessions: session_lookup.OpenSessions, dump_id: str) -> str:
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


@router.post_json(
    "/{session_id}/control",
    "mode (continue, reset, pause, terminate), level (step, node, recheck), steps, name",
)
def control(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Continue, jump to a step, pause or terminate, as the body says, and return the session's state as
    `metadata`. Returns an error if the body is invalid, to continue or jump while a job is running, and to
    pause while none is."""
    mode = body.get("mode")
    if mode == "continue":
        return _continue(session, body)
    if mode == "reset":
        return _reset(session, body)
    if mode == "pause":
        if session.state == debugger_session.WAITING:
            raise V1Error(Fault.DEBUGGER_PAUSE, "Nothing is running.")
        session.pause()
    elif mode == "terminate":
        session.stop()
    else:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter mode must be continue, reset, pause or terminate.")
    return {"metadata": session.status("state", "enable_recheck")}


@router.post("/{session_id}/recheck")
def recheck(session: CurrentSession) -> dict[str, Any]:
    """Check the current step again, after watchpoints have changed, and return the session's state as
    `metadata`. Returns an error if no watchpoint has changed since the last check, before the first step, and
    while a job is running."""
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
        if name := body.get("name"):
            graph_name = body.get("graph_name")
            graph = graph_of(session, known_rank(session, body.get("rank_id", 0)), graph_name)
            session_lookup.node_index(graph, name, graph_name)
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
    if session.state != debugger_session.WAITING:
        raise V1Error(Fault.DEBUGGER_CONTINUE, debugger_session.BUSY)
    session.reset(step)
    return {"metadata": session.status("state", "enable_recheck", "step")}


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter steps must be an integer.")
    return value


def _accepted() -> dict[str, Any]:
    """Return the response to a request whose work continues in the background."""
    return {"metadata": {"state": debugger_session.SENDING, "enable_recheck": False}}


_MODES: Final = ("all", "node", "watchpoint")


@router.post_json("/{session_id}/retrieve", "mode (all, node or watchpoint) and params")
def retrieve(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Return the whole state, the nodes of a scope as `graph`, or all watchpoints as `watch_points`, by
    `mode`. Returns an error for an unknown mode, rank, graph, node or watchpoint. With a `watch_point_id`,
    nodes have their watch state, and the mode `watchpoint` returns nodes, too."""
    mode, params = body.get("mode"), body.get("params") or {}
    if mode not in _MODES:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter mode must be one of {', '.join(_MODES)}.")
    if not isinstance(params, dict):
        raise V1Error(Fault.DEBUGGER_TYPE, "Parameter params must be an object.")
    if mode == "all":
        return _all(session)
    number = params.get("watch_point_id")
    if mode == "watchpoint" and not number:
        return {"watch_points": list(map(debugger_json.watchpoint_json, session.watchpoints.values()))}
    return _node(session, params)


def watch_of(
    session: Session, rank: int, graph: DumpGraph, watchpoint_id: object
) -> debugger_json.WatchedLeaves | None:
    """Return the leaves that a watchpoint covers, or None if no watchpoint is selected (0). Raises V1Error
    for an unknown watchpoint."""
    if not watchpoint_id:
        return None
    watchpoint = session_lookup.watchpoint_of(session, watchpoint_id)
    return debugger_json.watched_leaves(session, rank, graph, watchpoint)


def graph_json(session: Session, rank: int, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the names of a rank's graphs, and the given nodes, as JSON: `graph_names` and `nodes`."""
    names = [display_name(graph) for graph in session.dump.graphs(rank)]
    return {"graph_names": names, "nodes": nodes}


def metadata(session: Session) -> dict[str, Any]:
    """Return the metadata of a session for a client that connects, as JSON."""
    ascend = "ascend" in session.dump.device.lower()
    own_version = version("mindinsight")
    return {
        **session.status(),
        "device_name": "",
        "pos": "0",
        "ip": "None",
        "node_name": "",
        "backend": "Ascend" if ascend else "GPU",
        "graph_name": "",
        "recommendation_confirmed": session.recommended,
        "debugger_version": {"ms": session.dump.version, "mi": own_version},
        "data_version": {"state": False, "ms": session.dump.version, "mi": own_version},
        "total_step_num": session.total_steps(),
    }


def _all(session: Session) -> dict[str, Any]:
    rank = min(session.dump.ranks, default=0)
    graphs = session.dump.graphs(rank)
    graph = session.graph(rank, graphs[0] if len(graphs) == 1 else None)
    nodes = debugger_json.nodes_json(graph, graph.tree.children(ROOT)) if graph is not None else []
    return {
        "metadata": metadata(session),
        "graph": graph_json(session, rank, nodes),
        "devices": [_device(session, item) for item in session.dump.ranks],
        "watch_points": list(map(debugger_json.watchpoint_json, session.watchpoints.values())),
    }


def _device(session: Session, rank: int) -> dict[str, Any]:
    return {
        "rank_id": rank,
        "server_ip": "localhost",
        "device_id": rank,
        "device_ip": None,
        "graph_names": [display_name(graph) for graph in session.dump.graphs(rank)],
        "total_step_num": session.total_steps(rank),
    }


def _node(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    rank = known_rank(session, params.get("rank_id", 0))
    graph_name, name = params.get("graph_name"), params.get("name")
    graph = graph_of(session, rank, graph_name)
    watched = watch_of(session, rank, graph, params.get("watch_point_id"))
    index = session_lookup.node_index(graph, name, graph_name) if name else ROOT
    if params.get("single_node") and name:
        levels = debugger_json.levels_json(graph, index, watched)
        return {"graph": {**graph_json(session, rank, []), **levels}}
    nodes = debugger_json.nodes_json(graph, graph.tree.children(index), watched)
    return {"graph": graph_json(session, rank, nodes)}


CATEGORIES: Final = ("weight", "gradient", "activation")


@router.get("/{session_id}/search")
def search(
    session: CurrentSession,
    rank: session_lookup.RequestedRank,
    name: Annotated[str | None, optional_text("name")],
    graph_name: session_lookup.GraphName,
    category: Annotated[str | None, optional_text("node_category", "weight, gradient or activation")],
    watch_point: Annotated[int, integer("watch_point_id", 0, 0, session_lookup.MOST_IDS)],
    word: Annotated[str | None, optional_text("stack_info_key_word")],
) -> dict[str, Any]:
    """Return the nodes that match all conditions as `nodes`, nested in their scopes, [] without a condition.
    Returns an error for an unknown rank, graph, category or watchpoint."""
    graph = graph_of(session, rank, graph_name)
    watched = watch_of(session, rank, graph, watch_point)
    indices = search_nodes(session, rank, graph, name, category, word)

    def entry(index: int, inside: list[dict[str, Any]]) -> dict[str, Any]:
        tree = graph.tree
        node: dict[str, Any] = {"name": tree.paths[index], "type": tree.types[index], "nodes": inside}
        node["is_dynamic_shape_node"] = False
        return node if watched is None else {**node, "watched": watched.state(index)}

    return {"nodes": nest(graph.tree, indices, entry)}


@router.get("/{session_id}/stacks")
def stacks(
    session: CurrentSession,
    word: Annotated[str | None, optional_text("key_word")],
    rows: Annotated[int, integer("limit", 10, 0, 100)],
    page: Page,
) -> dict[str, Any]:
    """Return the source lines that lead to operators as `stack_infos`, grouped by file, or {} if no line
    contains `key_word`. `offset` counts pages of files. A `limit` of 0 returns all files."""
    graphs = [session.graph(rank, None) for rank in session.dump.ranks]
    frames = {frame for graph in graphs if graph for operator in graph.operators for frame in operator.stack}
    files: dict[str, list[Frame]] = {}
    for frame in sorted(frames, key=lambda frame: (frame.file, frame.line, frame.code)):
        if (word or "").lower() in _frame_text(frame):
            files.setdefault(frame.file, []).append(frame)
    if not files:
        return {}
    shown = list(files.items())[page * rows : (page + 1) * rows] if rows else files.items()
    encode = debugger_json.frame_json
    infos = [{"file_path": path, "items": list(map(encode, lines))} for path, lines in shown]
    return {"total": len(files), "offset": page, "stack_infos": infos}


@router.get("/{session_id}/ranks/{rank_id}/graph-runs")
def graph_runs(session: CurrentSession, rank_id: str) -> dict[str, Any]:
    """Return the steps of a rank, from 1, as `graph_runs`, with the graphs that ran in each. Returns an error
    for an unknown rank."""
    rank = known_rank(session, to_integer(rank_id, "rank_id"))
    runs = [
        {
            "count": step + 1,
            "graph_name": "",
            "has_data": True,
            "sub_graph_names": [display_name(graph) for graph in session.dump.graphs(rank, step)],
        }
        for step in session.dump.steps(rank)
    ]
    return {"graph_runs": runs}


def search_nodes(
    session: Session, rank: int, graph: DumpGraph, name: str | None, category: str | None, word: str | None
) -> list[int]:
    """Return the indices that match a name, a category and a word of the call stack, [] without any
    condition. Raises V1Error for an unknown category."""
    if category and category not in CATEGORIES:
        text = f"Parameter node_category must be one of {', '.join(CATEGORIES)}."
        raise V1Error(Fault.DEBUGGER_VALUE, text)
    if not (name or category or word):
        return []
    indices = match_end_of_path(graph.tree, name) if name else list(range(1, len(graph.tree.paths)))
    operators = {index: operator for index in indices if (operator := graph.operator(index)) is not None}
    if category:
        classes = debugger_json.classes_of(session, rank)
        operators = {i: o for i, o in operators.items() if category in classes.get(o.name, ())}
    if word:
        words = {i: map(_frame_text, o.stack) for i, o in operators.items()}
        operators = {i: o for i, o in operators.items() if any(word.lower() in text for text in words[i])}
    return list(operators) if category or word else indices


def _frame_text(frame: Frame) -> str:
    return f"{frame.file}:{frame.line} {frame.code}".lower()
