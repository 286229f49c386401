"""Sessions of the debugger: opened, shared, closed, and their events."""

from typing import Any

import pytest

from tests.server.v1.conftest import ROOT, code_of, fine
from tests.server.v1.debugger.conftest import RELU, SESSIONS, go, state, watch
from tests.waiting import until


def test_sessions_are_numbered_and_shared(dumps: Any, session: Any) -> None:
    number = session.rpartition("/")[2]
    assert dumps.ok(SESSIONS)["train_jobs"] == {"./job/dump": number}
    assert dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "job/dump/"}) == number
    other = dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/second"})
    third = dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/third"})
    assert code_of(third) == (400, "5054B280")
    assert fine(dumps.post(f"{SESSIONS}/{other}/delete")) is None
    assert code_of(dumps.post(f"{SESSIONS}/{other}/delete")) == (400, "5054B281")


@pytest.mark.parametrize("dump_dir", ["../beside/dump", "./../beside/dump", "/etc", "./job", "./nothing", ""])
def test_only_dumps_inside_the_base_are_opened(dumps: Any, dump_dir: str) -> None:
    answer = dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": dump_dir})
    assert code_of(answer) == (400, "5054B285")


def test_what_is_wrong_with_a_request_for_a_session(dumps: Any) -> None:
    assert code_of(dumps.post(SESSIONS, {"session_type": "OFFLINE"})) == (400, "50540003")
    assert code_of(dumps.post(SESSIONS, {"session_type": "ONLINE"})) == (400, "5054B282")
    assert code_of(dumps.post(SESSIONS, {"dump_dir": "./job/dump"})) == (400, "5054B081")
    assert code_of(dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": 3})) == (400, "50540001")
    assert code_of(dumps.post(f"{SESSIONS}/0/delete")) == (400, "5054B282")
    assert code_of(dumps.post(SESSIONS, [1])) == (400, "5054B080")
    not_json = dumps.client.post(f"{ROOT}/{SESSIONS}", content=b"{")
    assert code_of(not_json) == (400, "50540002")


@pytest.mark.parametrize(
    "call",
    ["poll-data", "search", "tensor-comparisons", "tensors", "tensor-graphs", "tensor-hits"]
    + ["condition-collections", "stacks", "ranks/0/graph-runs", "tensor-files/download"],
)
def test_a_session_that_is_not_there(dumps: Any, call: Any) -> None:
    assert dumps.fault(f"{SESSIONS}/99/{call}") == (400, "5054B281")


def test_events_are_polled_one_after_the_other(dumps: Any, session: Any) -> None:
    go(dumps, session, mode="continue", level="step", steps=1)
    events: list[Any] = []
    position = "0"
    while not events or events[-1]["metadata"]["state"] != "waiting":
        events.append(dumps.ok(f"{session}/poll-data", pos=position))
        position = events[-1]["metadata"]["pos"]
    assert [event["metadata"]["state"] for event in events] == ["sending", "running", "running", "waiting"]
    assert dumps.ok(f"{session}/poll-data", pos="other:3") == events[0]
    assert dumps.fault(f"{session}/poll-data") == (400, "5054B081")


def test_stepping(dumps: Any, session: Any) -> None:
    assert go(dumps, session, mode="continue", level="step", steps=1)["metadata"]["state"] == "sending"
    assert state(dumps, session)["step"] == 1
    go(dumps, session, mode="continue", level="step", steps=-1)
    assert state(dumps, session)["step"] == 2
    assert dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})["metadata"]["step"] == 1
    go(dumps, session, mode="continue", level="node", name=RELU)
    assert state(dumps, session)["step"] == 2
    assert dumps.sent(f"{session}/control", {"mode": "terminate"})["metadata"]["state"] == "waiting"


def test_steps_that_cannot_be_taken(dumps: Any, session: Any) -> None:
    def fault(**body: Any) -> Any:
        return code_of(dumps.post(f"{session}/control", body))

    assert fault(mode="jump") == (400, "5054B081")
    assert fault(mode="continue", level="step", steps=0) == (400, "5054B081")
    assert fault(mode="continue", level="step", steps=True) == (400, "5054B081")
    assert fault(mode="continue", level="layer") == (400, "5054B081")
    assert fault(mode="reset", steps=3) == (400, "5054B082")
    assert fault(mode="pause") == (400, "5054B184")
    assert fault(mode="continue", level="recheck") == (400, "5054B186")
    assert fault(mode="continue", level="node", name="no", graph_name="Net_0") == (400, "5054B100")
    assert fault(mode="continue", level="node", name="no", graph_name=["Net_0"])[0] == 400


def test_a_step_is_checked_again(dumps: Any, session: Any) -> None:
    assert code_of(dumps.post(f"{session}/recheck")) == (400, "5054B186")
    go(dumps, session, mode="continue", level="step", steps=1)
    assert watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])["metadata"]["enable_recheck"]
    dumps.sent(f"{session}/recheck")
    until(lambda: state(dumps, session)["state"] == "waiting")
    assert not state(dumps, session)["enable_recheck"]
    assert dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})["total"]
