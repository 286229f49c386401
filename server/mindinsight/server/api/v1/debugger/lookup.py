"""From the parameters of a debugger's request to the session, graph, node and tensor they name."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Depends

from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph, shown_name
from mindinsight.server.api.v1.debugger.session import Session
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.parameters import RawBody, parsed
from mindinsight.server.formats.dumps.types import Operator, TensorEntry
from mindinsight.server.http.service import Service, service_of


class OpenSessions:
    """The sessions of a server by number, and one number after the other."""

    def __init__(self) -> None:
        self.held: dict[str, Session] = {}
        self.lock: Final = threading.Lock()
        self.numbers: Final = itertools.count(1)

    def stop(self) -> None:
        for session in list(self.held.values()):
            session.close()


async def sessions_of(service: Annotated[Service, Depends(service_of)]) -> OpenSessions:
    """The sessions of this server."""
    return service.parts.of(OpenSessions)


Sessions = Annotated[OpenSessions, Depends(sessions_of)]


def session_of(sessions: Sessions, session_id: str) -> Session:
    session = sessions.held.get(session_id)
    if session is None:
        raise V1Error(Fault.DEBUGGER_SESSION, "There is no such session.")
    return session


CurrentSession = Annotated[Session, Depends(session_of)]


def body_of(raw: RawBody) -> dict[str, Any]:
    """The body as an object; an empty body is an empty object."""
    body = parsed(raw)
    if not isinstance(body, dict | None):
        raise V1Error(Fault.DEBUGGER_TYPE, "The body must be an object.")
    return body or {}


JsonBody = Annotated[dict[str, Any], Depends(body_of)]


def takes(description: str) -> dict[str, Any]:
    """What the interface's description says of a body that is read by hand."""
    content = {"application/json": {"schema": {"type": "object"}}}
    return {"requestBody": {"description": description, "content": content}}


def known_rank(session: Session, rank: object) -> int:
    """Raises V1Error for what is no rank of the dump."""
    if not isinstance(rank, int) or isinstance(rank, bool) or rank not in session.dump.ranks:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter rank_id names no rank of the dump.")
    return rank


def graph_of(session: Session, rank: int, name: object = None) -> DumpGraph:
    """The graph of a rank by the name it is shown under; all graphs of the rank for none."""
    graphs = {shown_name(graph): graph for graph in session.dump.graphs(rank)}
    if name and name not in graphs:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter graph_name names no graph.")
    only = next(iter(graphs.values())) if len(graphs) == 1 else None
    tree = session.graph(rank, graphs[str(name)] if name else only)
    if tree is None:
        raise V1Error(Fault.DEBUGGER_GRAPH, "The dump holds no graph of this rank.")
    return tree


def node_index(graph: DumpGraph, name: object, graph_name: object) -> int:
    """The place of a node's name; raises V1Error for a name that is none."""
    index = graph.find(name) if isinstance(name, str) else None
    if index is None:
        fault = Fault.DEBUGGER_NODE if graph_name else Fault.DEBUGGER_GRAPH
        raise V1Error(fault, "Parameter name names no node of the graph.")
    return index


class Slot(NamedTuple):
    """A tensor by its name, ``<node>:<slot>``."""

    rank: int
    graph: DumpGraph
    node_index: int
    operator: Operator
    slot: str


def slot_of(session: Session, name: object, rank: int, graph_name: object) -> Slot:
    """The tensor that a name means, dumped or not."""
    if not isinstance(name, str) or ":" not in name:
        raise V1Error(Fault.DEBUGGER_VALUE, "A tensor's name is the name of its node, a colon and its slot.")
    node, _, slot = name.rpartition(":")
    graph = graph_of(session, rank, graph_name)
    index = node_index(graph, node, graph_name)
    operator = graph.operator(index)
    if operator is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "A scope has no tensors.")
    return Slot(rank, graph, index, operator, slot)


def entry_of(session: Session, slot: Slot, step: int) -> TensorEntry | None:
    """What was dumped of a tensor at a step; None when nothing was."""
    entries = outputs_of(session, slot.rank, slot.operator, step)
    return next((entry for entry in entries if entry.slot == slot.slot), None)


def outputs_of(session: Session, rank: int, operator: Operator, step: int) -> list[TensorEntry]:
    """What was dumped of the outputs of an operator, or of a parameter, at a step."""
    if step < 1 or not any((each.rank, each.step) == (rank, step - 1) for each in session.dump.folders):
        return []
    entries = session.tensors(rank, step).get((operator.graph, operator.recorded), [])
    return [each for each in entries if each.direction != "input"]


def file_name(entry: TensorEntry) -> str:
    """A name for a download: the operator's last part, safe in a header."""
    plain = "".join(
        character if character.isascii() and (character.isalnum() or character in "-_.") else "_"
        for character in entry.operator
    )
    return f"{Path(plain).name}_{entry.slot}.npy"
