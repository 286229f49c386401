"""Dependencies and look-ups of the debugger's routes: session, body, rank, graph, node, tensor."""

import itertools
import threading
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Depends

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.v1.debugger.debugger_session import (
    DumpGraph,
    Session,
    SessionWatchpoint,
    display_name,
)
from mindinsight.server.v1.v1_parameters import RawBody, integer, optional_text, parse_json
from mindinsight.server.v1.v1_responses import Fault, V1Error

MOST_IDS: Final = 2**31  # largest id of a rank or a watchpoint


class OpenSessions:
    """Registry of the open sessions of a server, by number."""

    def __init__(self) -> None:
        self.by_number: dict[str, Session] = {}
        self.lock: Final = threading.Lock()  # guards by_number; no dump is opened while it is held
        self.opening: Final = LruCache[str](0)
        self.numbers: Final = itertools.count(1)

    def stop(self) -> None:
        """Close all sessions when the server stops."""
        for session in list(self.by_number.values()):
            session.close()


async def sessions_of(service: CurrentService) -> OpenSessions:
    """Return the open sessions of this server. FastAPI dependency."""
    return service.parts.of(OpenSessions)


Sessions = Annotated[OpenSessions, Depends(sessions_of)]


def session_of(sessions: Sessions, session_id: str) -> Session:
    """Return the session of the path. Raises V1Error if it is unknown. FastAPI dependency."""
    session = sessions.by_number.get(session_id)
    if session is None:
        raise V1Error(Fault.DEBUGGER_SESSION, "There is no such session.")
    return session


CurrentSession = Annotated[Session, Depends(session_of)]


def json_body(raw: RawBody) -> dict[str, Any]:
    """Return the body as a dict, empty for an empty body. FastAPI dependency. Raises V1Error if the body is
    not a JSON object."""
    body = parse_json(raw)
    if not isinstance(body, dict | None):
        raise V1Error(Fault.DEBUGGER_TYPE, "The body must be an object.")
    return body or {}


JsonBody = Annotated[dict[str, Any], Depends(json_body)]


def known_rank(session: Session, rank: object) -> int:
    """Return the rank if the dump has it. Raises V1Error otherwise."""
    if not isinstance(rank, int) or isinstance(rank, bool) or rank not in session.dump.ranks:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter rank_id is not a rank of the dump.")
    return rank


def requested_rank(
    session: CurrentSession, rank_id: Annotated[int, integer("rank_id", 0, 0, MOST_IDS)]
) -> int:
    """Return the rank of a request, by default 0. Raises V1Error if it is unknown. FastAPI dependency."""
    return known_rank(session, rank_id)


RequestedRank = Annotated[int, Depends(requested_rank)]
TensorName = Annotated[str | None, optional_text("tensor_name", needed=True)]
GraphName = Annotated[str | None, optional_text("graph_name")]


def graph_of(session: Session, rank: int, name: object = None) -> DumpGraph:
    """Return the graph with this displayed name, or all graphs of the rank without a name. Raises V1Error if
    the name is unknown, or the rank has no graph."""
    graphs = {display_name(graph): graph for graph in session.dump.graphs(rank)}
    if name and (not isinstance(name, str) or name not in graphs):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter graph_name does not match any graph.")
    single = next(iter(graphs.values())) if len(graphs) == 1 else None
    tree = session.graph(rank, graphs[str(name)] if name else single)
    if tree is None:
        raise V1Error(Fault.DEBUGGER_GRAPH, "The dump has no graph for this rank.")
    return tree


def node_index(graph: DumpGraph, name: object, graph_name: object) -> int:
    """Return the index of a node in the tree. Raises V1Error if its name is unknown."""
    index = graph.find(name) if isinstance(name, str) else None
    if index is None:
        fault = Fault.DEBUGGER_NODE if graph_name else Fault.DEBUGGER_GRAPH
        raise V1Error(fault, "Parameter name does not match any node of the graph.")
    return index


def watchpoint_of(session: Session, number: object) -> SessionWatchpoint:
    """Return the watchpoint with this id. Raises V1Error if there is none."""
    is_number = isinstance(number, int) and not isinstance(number, bool)
    watchpoint = session.watchpoints.get(int(number)) if is_number else None  # type: ignore[call-overload]
    if watchpoint is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter watch_point_id does not match any watchpoint.")
    return watchpoint


class Slot(NamedTuple):
    """Output of an operator in the graph of a rank, named `<node>:<slot>` by pages, dumped or not."""

    rank: int
    graph: DumpGraph
    node_index: int
    operator: Operator
    slot: str


def slot_of(session: Session, name: object, rank: int, graph_name: object) -> Slot:
    """Return the tensor named `<node>:<slot>`, dumped or not. Raises V1Error for a name of another form, an
    unknown node, or a scope."""
    if not isinstance(name, str) or ":" not in name:
        raise V1Error(Fault.DEBUGGER_VALUE, "The name of a tensor must have the form <node>:<slot>.")
    node, _, slot = name.rpartition(":")
    graph = graph_of(session, rank, graph_name)
    index = node_index(graph, node, graph_name)
    operator = graph.operator(index)
    if operator is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "A scope has no tensors.")
    return Slot(rank, graph, index, operator, slot)


def entry_of(session: Session, slot: Slot, step: int) -> TensorEntry | None:
    """Return the dumped tensor of a slot at a step, or None if it was not dumped."""
    entries = outputs_of(session, slot.rank, slot.operator, step)
    return next((entry for entry in entries if entry.slot == slot.slot), None)


def outputs_of(session: Session, rank: int, operator: Operator, step: int) -> list[TensorEntry]:
    """Return the dumped outputs of an operator, or the dumped parameter, at a step from 1. [] if none was
    dumped."""
    if step < 1 or not any((folder.rank, folder.step) == (rank, step - 1) for folder in session.dump.folders):
        return []
    entries = session.tensors(rank, step).get((operator.graph, operator.recorded), [])
    return [entry for entry in entries if entry.direction != "input"]


def file_name(entry: TensorEntry) -> str:
    """Return the file name of a download: the operator's name without characters that are unsafe in a
    header.
    """
    safe_name = "".join(
        character if character.isascii() and (character.isalnum() or character in "-_.") else "_"
        for character in entry.operator
    )
    return f"{Path(safe_name).name}_{entry.slot}.npy"
