"""Tools of an agent: planted faults are found in few calls, answers are short, errors say what is wrong."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.client.client import Client

import mindinsight
from mindinsight.server.app import create_app
from mindinsight.server.commands import agent_tools
from mindinsight.server.commands.mcp import make_server
from mindinsight.server.settings import Settings
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.writer import SummaryRecord
from tests.flight import unpack
from tests.server.debug.test_planted_faults import FAULTS
from tests.waiting import until_async

Call = Callable[..., Awaitable[str]]


def ask(base: Path, workspace: Path, conversation: Callable[[Call], Awaitable[None]]) -> None:
    """Hold a conversation with the tools over runs below a directory, once these were read."""

    async def run() -> None:
        app = create_app(Settings(base, workspace, workers=1, reload_interval=0))
        async with Client(make_server(app)) as client:

            async def call(name: str, **arguments: Any) -> str:
                result = await client.call_tool(name, arguments)
                text = "".join(part.text for part in result.content if hasattr(part, "text"))
                assert len(text.encode()) <= agent_tools.LONGEST
                return f"ERROR {text}" if result.is_error else text

            store = app.state.service.store

            def is_read() -> bool:
                snapshot = store.snapshot()
                return bool(snapshot.scanned) and all(run.read >= run.total for run in snapshot.runs.values())

            await until_async(is_read)
            await conversation(call)

    anyio.run(run)


@pytest.mark.parametrize(("name", "operator", "verdict", "sentence", "code"), FAULTS)
def test_a_planted_fault_is_explained_in_two_calls(
    name: str, operator: str, verdict: str, sentence: str, code: str, tmp_path: Path
) -> None:
    unpack(name, tmp_path / "base")

    async def conversation(call: Call) -> None:
        dumps = await call("first_fault")
        (dump,) = (line.partition(",")[0] for line in dumps.splitlines()[1:])
        text = await call("first_fault", dump=dump)
        assert operator in text
        assert verdict in text
        assert all(part in text for part in re.split(r"(?<=\.) ", sentence))
        assert code in text
        assert "/home/user/train/planted.py:" in text

    ask(tmp_path / "base", tmp_path / "workspace", conversation)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for run, rate in (("good", 0.1), ("bad", 0.3)):
        with SummaryRecord(tmp_path / "base" / run) as record:
            record.record_console()
            for step in range(300):
                loss = math.nan if run == "bad" and step > 200 else 1 / (1 + step * rate)
                record.add_value("scalar", "loss", loss)
                record.record(step)
            record.add_value("custom_lineage_data", "c", {"rate": rate}, step=0)
            record.add_value("train_lineage", "l", {"learning_rate": rate}, step=0)
            if run == "bad":
                record.alert("loss is nan", "look at it", "error", 201)
            record.add_value("scalar", "system/cpu/percent", 55.0, step=int(time.time()))
    return tmp_path / "base"


def test_a_planted_fault_is_explained_in_one_call(tmp_path: Path) -> None:
    unpack("logarithm", tmp_path / "base")

    async def conversation(call: Call) -> None:
        text = await call("explain", run="logarithm")
        lines = text.splitlines()
        assert lines[0] == "summary:"
        assert "tensors ./logarithm/flight_dump:" in lines[2:8]  # below the fault and its cause
        assert "/home/user/train/planted.py:41 return torch.log(scores)" in lines
        assert "The weight fc2.weight has norm 8835.4 there" in text
        assert any(line.startswith("(unknown) No run that began earlier") for line in lines)
        assert (await call("explain", run="nowhere")).startswith("ERROR")

    ask(tmp_path / "base", tmp_path / "workspace", conversation)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([{"done": True, "error": "damage", "parts": []}], "(unknown) The search ended early: damage"),
        ([{"done": False}] * 3, "(unknown) The search takes longer than a minute."),
    ],
)
def test_an_explanation_that_is_not_complete_is_said_to_be(
    answers: list[Any], expected: str, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_tools, "_PATIENCE", 0.01)
    monkeypatch.setattr(agent_tools, "_POLL", 0.02)
    store = mindinsight.open(base)._store
    waiting = list(answers)

    async def answer(path: str, **query: Any) -> Any:
        return {"explanation": 1} if path == "v2/explanation" else waiting.pop(0)

    text = anyio.run(agent_tools.Tools(answer, store).explain, next(iter(store.snapshot().runs)))
    assert text.startswith(expected)


def test_runs_series_alerts_and_comparisons_are_answered(base: Path, tmp_path: Path) -> None:
    async def conversation(call: Call) -> None:
        runs = await call("list_runs")
        assert "2 of 2 runs" in runs
        assert "./bad | finished | step 299 | settings learning_rate=0.3" in runs
        assert "last loss=nan" in runs
        assert "1 of 2 runs" in await call("list_runs", search="rate=0.1")
        series = await call("series", run="bad", tag="loss", points=10)
        assert "nan 99" in series
        assert "step 299: nan" in series
        assert 5 <= len(series.splitlines()) <= 2 + 10
        assert "55" in await call("series", run="bad", tag="system/cpu/percent")
        assert "error | ./bad | step 201 | loss is nan: look at it" in await call("alerts")
        assert "| loss is NaN" in await call("alerts")  # of a rule
        assert "0 alerts" in await call("alerts", run="good")
        described = await call("describe_run", run="bad")
        assert "scalar, 1 tags: loss" in described
        assert "its console is recorded" in described
        compared = await call("compare_runs", run="bad", baseline="good")
        assert "loss" in compared
        assert await call("why", good=["good"], bad=["bad"])
        assert (await call("reports")).startswith("There are no reports")

    ask(base, tmp_path / "workspace", conversation)


def test_errors_say_what_is_wrong(base: Path, tmp_path: Path) -> None:
    async def conversation(call: Call) -> None:
        assert "There is no run './none'" in await call("describe_run", run="none")
        assert "has no scalar 'acc'. It has: loss" in await call("series", run="bad", tag="acc")
        assert "recorded no program" in await call("code_difference", run="good", other="bad")
        assert "ERROR" in await call("first_fault", dump="none")
        assert "no job none with several ranks" in await call("job_health", job="none")
        assert "ERROR" in await call("console", run="../good")
        refused = await call("compare_runs", run="bad", baseline="good", tolerance=0)
        assert "tolerance: Input should be greater than 0" in refused

    ask(base, tmp_path / "workspace", conversation)


def test_no_tool_changes_anything(base: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in base.rglob("*")}

    async def conversation(call: Call) -> None:
        for name in ("list_runs", "alerts", "reports", "first_fault"):
            assert "ERROR" not in await call(name)

    ask(base, tmp_path / "workspace", conversation)
    assert {path: path.stat().st_mtime_ns for path in base.rglob("*")} == before


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["a", "b"], "a\nb"),
        (["x" * 20_000], "(the end of the line is left out: ask.)"),
        (["head", *["y" * 100] * 1000], "lines are left out: ask.)"),
        (["head", "z" * 20_000, "end"], "(2 lines are left out: ask.)"),
        (["head", *["字" * 100] * 100], "(68 lines are left out: ask.)"),
    ],
)
def test_long_answers_say_what_they_left_out(lines: list[str], shown: str) -> None:
    text = agent_tools._text(lines, "ask")
    assert text.endswith(shown)
    assert len(text.encode()) <= agent_tools.LONGEST


class Half:
    """A store of one run of which half is read, in a directory that is still being listed."""

    def __init__(self, read: int, scanned: float) -> None:
        self.run = Run("./a", "a", "/a", "./a", None, created=0.0, updated=0.0, size=10, read=read, total=10)
        self.scanned = scanned

    def snapshot(self) -> Any:
        return Snapshot(1, {"./a": self.run}, 0, "/", "events", self.scanned)


@pytest.mark.parametrize(
    ("read", "scanned", "unknown"), [(5, 0.0, 2), (5, 1.0, 1), (10, 0.0, 1), (10, 1.0, 0)]
)
def test_what_is_not_read_yet_is_said_to_be_unknown(read: int, scanned: float, unknown: int) -> None:
    async def ask(path: str, **query: Any) -> Any:
        raise AssertionError(path)

    tools = agent_tools.Tools(ask, cast("Any", Half(read, scanned)))
    assert anyio.run(tools.list_runs).count("(unknown)") == unknown


@pytest.mark.parametrize(("further", "more"), [("x@1", True), (None, False)])
def test_a_console_is_told_without_colours_and_with_what_is_missing(further: str | None, more: bool) -> None:
    async def ask(path: str, **query: Any) -> Any:
        return {"lines": [[1.0, "o", "\x1b[31mred\x1b[0m", "x@0", False]], "next": further}

    tools = agent_tools.Tools(ask, cast("Any", Half(10, 1.0)))
    text = anyio.run(partial(tools.console, "a", search="red"))
    assert "1.000 o red" in text
    assert ("There are more" in text) == more


def test_an_operator_without_a_stack_has_no_source_line() -> None:
    assert agent_tools._source({"operator": "Exp", "stack": []}) == "Exp: no source line was recorded"
    frames = [{"file": "/home/me/train.py", "line": 7, "code": "exp(x)"}]
    assert agent_tools._source({"operator": "Exp", "stack": frames}) == "Exp: /home/me/train.py:7 exp(x)"
