"""Look-ups of the debugger's routes: ranks, graphs, nodes, tensors and file names, and what is refused."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.server.v1.debugger.debugger_session import Session
from mindinsight.server.v1.debugger.session_lookup import (
    OpenSessions,
    entry_of,
    file_name,
    graph_of,
    json_body,
    known_rank,
    node_index,
    outputs_of,
    session_of,
    slot_of,
)
from mindinsight.server.v1.v1_responses import Fault, V1Error
from tests.server.v1.debugger.conftest import RELU


def fault_of(call: Callable[[], Any]) -> Fault:
    with pytest.raises(V1Error) as error:
        call()
    return error.value.fault


def test_sessions_are_found_by_number_and_closed_together(open_session: Session) -> None:
    sessions = OpenSessions()
    sessions.by_number["7"] = open_session
    assert session_of(sessions, "7") is open_session
    assert fault_of(lambda: session_of(sessions, "8")) is Fault.DEBUGGER_SESSION
    sessions.stop()
    asyncio.run(asyncio.wait_for(open_session.events.wait(""), 10))  # else it waits for 25 s


@pytest.mark.parametrize(("raw", "body"), [(b"", {}), (b'{"a": 1}', {"a": 1})])
def test_a_body_is_an_object_or_empty(raw: bytes, body: dict[str, Any]) -> None:
    assert json_body(raw) == body


def test_a_body_that_is_no_object_is_refused() -> None:
    assert fault_of(lambda: json_body(b"[1]")) is Fault.DEBUGGER_TYPE


@pytest.mark.parametrize("rank", [1, -1, True, "0", None, 0.0])
def test_what_is_no_rank_of_the_dump_is_refused(open_session: Session, rank: object) -> None:
    assert known_rank(open_session, 0) == 0
    assert fault_of(lambda: known_rank(open_session, rank)) is Fault.DEBUGGER_VALUE


def test_a_graph_is_found_by_the_name_it_is_displayed_with(open_session: Session) -> None:
    graph = graph_of(open_session, 0)
    assert node_index(graph, RELU, None) == graph.find(RELU)
    assert fault_of(lambda: graph_of(open_session, 0, "no such graph")) is Fault.DEBUGGER_VALUE


def test_an_unknown_node_is_a_fault_of_the_graph_or_of_its_name(open_session: Session) -> None:
    graph = graph_of(open_session, 0)
    assert fault_of(lambda: node_index(graph, "nothing", None)) is Fault.DEBUGGER_GRAPH
    assert fault_of(lambda: node_index(graph, "nothing", "Net")) is Fault.DEBUGGER_NODE
    assert fault_of(lambda: node_index(graph, 3, "Net")) is Fault.DEBUGGER_NODE


def test_a_tensor_is_a_node_and_a_slot(open_session: Session) -> None:
    slot = slot_of(open_session, f"{RELU}:0", 0, None)
    assert (slot.rank, slot.slot) == (0, "0")
    assert slot.operator.name == RELU
    (entry,) = outputs_of(open_session, 0, slot.operator, 1)
    assert entry_of(open_session, slot, 1) == entry
    assert entry.direction == "output"
    assert entry_of(open_session, slot._replace(slot="9"), 1) is None


@pytest.mark.parametrize("step", [0, -1, 99])
def test_at_steps_that_were_not_dumped_there_are_no_outputs(open_session: Session, step: int) -> None:
    slot = slot_of(open_session, f"{RELU}:0", 0, None)
    assert outputs_of(open_session, 0, slot.operator, step) == []


@pytest.mark.parametrize("name", [RELU, None, 5, "Default:0"])
def test_names_without_slot_and_scopes_have_no_tensor(open_session: Session, name: object) -> None:
    assert fault_of(lambda: slot_of(open_session, name, 0, None)) is Fault.DEBUGGER_VALUE


def test_a_file_name_is_safe_in_a_header(open_session: Session) -> None:
    slot = slot_of(open_session, f"{RELU}:0", 0, None)
    entry = entry_of(open_session, slot, 1)
    assert entry is not None
    name = file_name(entry)
    assert name.endswith("_0.npy")
    assert not set(name) & set('/\\"\r\n ;')
