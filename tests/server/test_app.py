"""A server as it starts, in a process of its own: what is loaded, and when."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from mindinsight.server import app
from mindinsight.server.compute import background_jobs

BEGIN = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings

def loaded():
    names = ("fastapi", "plotly", "pandas", "mindinsight.server.compute.tensor_statistics")
    return {name for name in names if name in sys.modules}

folder = Path(sys.argv[1])
(folder / "base").mkdir()
client = TestClient(create_app(Settings(folder / "base", folder / "workspace")), base_url="http://127.0.0.1")
with client:
"""


def outcome(folder: Any, code: Any) -> Any:
    ran = subprocess.run(
        [sys.executable, "-c", BEGIN + code, str(folder)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_a_server_that_nobody_asks_loads_no_interface(tmp_path: Path) -> None:
    code = "    print(client.get('/health').json()['status'], *loaded())"
    assert outcome(tmp_path, code) == ["ok"]


NOT_AT_ONCE = """
def eager():
    names = ("events", "dumps", "lineage")
    return {name for name in names if f"mindinsight.server.formats.{name}" in sys.modules}
"""


def test_decoders_are_loaded_with_the_first_file_there_is_to_read(tmp_path: Path) -> None:
    code = f"""
    exec({NOT_AT_ONCE!r})
    before = eager()
    (folder / "base" / "run").mkdir()
    (folder / "base" / "run" / "events.summary.1700000000.host").write_bytes(bytes(3))
    while not client.get("/health").json()["files"] or "events" not in eager():
        pass
    print(*before, "|", *eager())
"""
    assert outcome(tmp_path, code) == ["|", "events"]


def test_a_server_begins_to_collect_garbage_when_it_is_complete(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    code = """
import gc, sys
from pathlib import Path
gc.disable()
from mindinsight.server.process import serve
from mindinsight.server.settings import Settings
folder = Path(sys.argv[1])

def ready():
    print(gc.isenabled(), gc.get_freeze_count() > 10_000)
    raise KeyboardInterrupt

serve.run(Settings(folder / "base", folder / "workspace", port=0), ready)
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["True", "True"], ran.stderr


def test_pages_and_their_scripts_are_served_without_the_interface(tmp_path: Path) -> None:
    code = """
    import re
    text = client.get("/scalar").text
    addresses = re.findall('(?:src|href)="([^"#]+)"', text)
    codes = {client.get(f"/{address}").status_code for address in addresses}
    codes |= {client.get(path).status_code for path in ("/", "/docs")}
    print(len(addresses) > 3, *codes, *loaded())
"""
    assert outcome(tmp_path, code) == ["True", "200"]


def test_what_a_page_asks_for_first_is_answered_without_the_interface(tmp_path: Path) -> None:
    code = """
    paths = ("/v2/runs", "/v2/tags?kind=scalar", "/v2/scalar/series?tag=loss&run=./a", "/v2/alert/list")
    print(*(client.get(path).status_code for path in paths), *loaded())
"""
    assert outcome(tmp_path, code) == ["200"] * 4


def test_a_page_loads_the_routes_of_its_kind_alone(tmp_path: Path) -> None:
    code = """
    print(client.get("/v2/histogram/series?run=./a&tag=b").status_code)
    kinds = ("histogram", "graph", "dump")
    print(*(name for name in kinds if f"mindinsight.server.plugins.{name}" in sys.modules))
    print(client.get("/v2/histogram/nothing").status_code)
"""
    assert outcome(tmp_path, code) == ["404", "histogram", "404"]


def test_both_interfaces_answer_and_describe_themselves(tmp_path: Path) -> None:
    code = """
    for path in ("/v2/openapi.json", "/v1/mindinsight/openapi.json"):
        print(path, "/health" in client.get(path).json()["paths"])
    print(client.get("/v1/mindinsight/nothing").status_code, client.get("/v2/nothing").status_code)
"""
    expected = ["/v2/openapi.json", "True", "/v1/mindinsight/openapi.json", "False", "404", "404"]
    assert outcome(tmp_path, code) == expected


def test_a_command_loads_no_other_command(tmp_path: Path) -> None:
    code = """
import sys

import pytest
from mindinsight.server.commands.main import parser
options = parser("start").parse_args(["start", "--port", "81"])
print(options.port, *sorted(name for name in sys.modules if name.startswith("mindinsight.server.commands.")))
print("numpy" in sys.modules)
"""
    loaded = [f"mindinsight.server.commands.{name}" for name in ("main", "options", "parser", "start")]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["81", *loaded, "False"]


@pytest.mark.parametrize("path", ["/v2/a%0Ab", "/v2/%0A", "/a%0A/b"])
def test_addresses_with_a_line_break_are_answered_like_others(shared_samples: Any, path: str) -> None:
    answer = shared_samples().get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == shared_samples().get("/v2/none").headers["content-type"]


@pytest.mark.parametrize("how", ["refused", "dead"])
def test_where_the_system_gives_fewer_threads_those_answer(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """A dead thread got its stack, and then no memory for its first call: it never says that it began."""
    name = {"refused": "start", "dead": "_bootstrap"}[how]
    begin, left = getattr(threading.Thread, name), [1, 2, 3]

    def some(self: threading.Thread) -> None:
        if left:
            left.pop()
            begin(self)
        elif how == "refused":
            raise RuntimeError("can't start new thread")

    async def scenario() -> tuple[float, str]:
        await app._start_light_threads()
        tokens = to_thread.current_default_thread_limiter().total_tokens
        left.clear()
        return tokens, await to_thread.run_sync(lambda: "answered")

    monkeypatch.setattr(background_jobs, "START_SECONDS", 0.2)
    monkeypatch.setattr(threading.Thread, name, some)
    assert asyncio.run(scenario()) == (3, "answered")
