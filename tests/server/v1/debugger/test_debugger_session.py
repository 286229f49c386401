"""A session of the debugger: steps, watchpoints, hits, and what may happen at one time."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mindinsight.server.v1.debugger.debugger_session import (
    CAPACITY,
    WAITING,
    Events,
    Session,
    SessionWatchpoint,
)
from mindinsight.server.v1.v1_responses import Fault, V1Error
from tests.narrowing import require
from tests.server.v1.debugger.conftest import RELU, SESSIONS

NEVER = SessionWatchpoint(0, "tensor_overflow")
ALWAYS = SessionWatchpoint(0, "tensor_range", {"max_min_gt": 0.0})


def wait(session: Session) -> None:
    end = time.monotonic() + 60
    while session.state != WAITING:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_new_session_waits_at_step_0(open_session: Session) -> None:
    assert open_session.status() == {"state": "waiting", "step": 0, "enable_recheck": False}
    assert open_session.status("step") == {"step": 0}
    assert open_session.total_steps() == open_session.total_steps(0) == max(open_session.dump.steps()) + 1


def test_without_watchpoints_it_goes_to_the_end(open_session: Session) -> None:
    open_session.advance(-1)
    wait(open_session)
    assert (open_session.step, open_session.hits) == (open_session.total_steps(), ())


def test_it_advances_step_by_step_and_not_beyond_the_last(open_session: Session) -> None:
    open_session.advance(1)
    wait(open_session)
    assert open_session.step == 1
    open_session.advance(1000)
    wait(open_session)
    assert open_session.step == open_session.total_steps()


def test_watchpoints_have_numbers_of_their_own(open_session: Session) -> None:
    assert [open_session.add_watchpoint(NEVER) for _ in range(2)] == [1, 2]
    open_session.remove_watchpoint(2)
    assert open_session.add_watchpoint(NEVER) == 3
    assert sorted(open_session.watchpoints) == [1, 3]


def test_a_watchpoint_is_checked_at_the_steps_it_is_asked_for() -> None:
    watchpoint = SessionWatchpoint(4, "tensor_overflow", names=frozenset({"b", "a"})).at((2,))
    assert (watchpoint.id, watchpoint.operators, watchpoint.steps) == (4, ("a", "b"), (2,))


def test_a_hit_ends_the_way(open_session: Session) -> None:
    open_session.add_watchpoint(ALWAYS)
    open_session.advance(-1)
    wait(open_session)
    assert open_session.step == 1
    assert open_session.hits
    assert not open_session.stale


def test_a_changed_watchpoint_allows_a_check_of_the_same_step(open_session: Session) -> None:
    open_session.reset(1)
    assert not open_session.can_recheck
    open_session.add_watchpoint(ALWAYS)
    assert open_session.can_recheck
    open_session.recheck()
    wait(open_session)
    assert (open_session.step, bool(open_session.hits), open_session.can_recheck) == (1, True, False)
    open_session.reset(0)
    assert open_session.hits == ()


def test_while_it_is_busy_nothing_else_begins(open_session: Session) -> None:
    open_session.state = "running"
    with pytest.raises(V1Error) as error:
        open_session.advance(1)
    assert error.value.fault is Fault.DEBUGGER_CONTINUE
    open_session.state = WAITING


def test_pausing_and_closing_without_work_do_nothing(open_session: Session) -> None:
    open_session.pause()
    open_session.stop()
    open_session.close()
    asyncio.run(asyncio.wait_for(open_session.events.wait(""), 10))  # else it waits for 25 s


def test_the_tensors_of_a_step_are_grouped_by_operator(open_session: Session) -> None:
    groups = open_session.tensors(0, 1)
    (entries,) = [entries for entries in groups.values() if entries[0].operator == RELU]
    assert {entry.operator for entry in entries} == {RELU}
    assert open_session.tensors(0, 1) is groups


def run(coroutine: Any) -> Any:
    """In a thread of its own: a browser of other tests may have a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def test_events_come_one_after_the_other() -> None:
    events = Events()
    for step in range(3):
        events.add({"metadata": {"step": step}})
    first = require(events.after("0"))
    second = require(events.after(first["metadata"]["pos"]))
    assert [first["metadata"]["step"], second["metadata"]["step"]] == [0, 1]
    assert events.after("elsewhere:2") == first


def test_the_oldest_are_forgotten() -> None:
    events = Events()
    for step in range(CAPACITY + 5):
        events.add({"metadata": {"step": step}})
    assert require(events.after("0"))["metadata"]["step"] == 5


def test_waiting_ends_with_an_event() -> None:
    async def later() -> Any:
        waiting = asyncio.create_task(events.wait("0"))
        await asyncio.sleep(0)
        events.add({"receive_watchpoint_hits": True})
        return await waiting

    events = Events()
    assert run(later())["receive_watchpoint_hits"]


def test_waiting_ends_with_patience_and_with_the_session() -> None:
    assert run(Events(patience=0).wait("0")) == {"metadata": {"pos": "0"}}
    events = Events()
    events.close()
    assert run(events.wait("here:1")) == {"metadata": {"pos": "here:1"}}


def test_a_dump_without_a_graph(dumps: Any) -> None:
    ids = [dump["id"] for dump in dumps.client.get("/v2/dump/list").json()["dumps"]]
    (torch,) = [dump for dump in ids if dump.startswith("./torch")]
    session = f"{SESSIONS}/{dumps.sent(SESSIONS, {'session_type': 'OFFLINE', 'dump_dir': torch})}"
    names = [node["name"] for node in dumps.sent(f"{session}/retrieve", {"mode": "all"})["graph"]["nodes"]]
    assert "Module.fc1.Linear.forward.0" in names
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    value = dumps.ok(f"{session}/tensors", name="Module.fc1.Linear.forward.0:0")["tensor_value"]
    assert value["tensor_status"] == "cached"
    dumps.sent(f"{session}/delete")
