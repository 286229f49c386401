"""Command ``mindinsight mcp`` over a real standard input and output."""

import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client

from mindinsight.server.commands.main import main
from mindinsight.writer import SummaryRecord


def test_an_agent_asks_a_process(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "base" / "run1") as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(7)
    options = ["--summary-base-dir", str(tmp_path / "base"), "--workspace", str(tmp_path / "workspace")]
    command = ["-m", "mindinsight.server.commands.main", "mcp", *options]

    async def run() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"list_runs", "series", "why", "first_fault", "console"} <= set(names)
            assert len(names) <= 12
            text = ""
            with anyio.fail_after(60):
                while "step 7" not in text:
                    result = await client.call_tool("list_runs", {})
                    text = getattr(result.content[0], "text", "")
                    await anyio.sleep(0.1)
            assert "./run1 | finished | step 7 | last loss=0.5" in text

    anyio.run(run)


def test_without_the_package_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert main(["mcp"]) == 1
    assert "pip install 'mindinsight[mcp]'" in capsys.readouterr().err
