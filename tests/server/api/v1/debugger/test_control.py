"""Steps through a dump."""

from typing import Any

from tests.server.api.v1.conftest import code_of
from tests.server.api.v1.debugger.conftest import RELU, go, state, watch
from tests.waiting import until


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


def test_a_step_is_checked_again(dumps: Any, session: Any) -> None:
    assert code_of(dumps.post(f"{session}/recheck")) == (400, "5054B186")
    go(dumps, session, mode="continue", level="step", steps=1)
    assert watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])["metadata"]["enable_recheck"]
    dumps.sent(f"{session}/recheck")
    until(lambda: state(dumps, session)["state"] == "waiting")
    assert not state(dumps, session)["enable_recheck"]
    assert dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})["total"]
