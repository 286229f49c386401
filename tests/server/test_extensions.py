"""Extensions that are broken in every way: each is named, and everything else works."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mindinsight.extension
from mindinsight.server import extensions
from mindinsight.server.http.static_files import Assets

SURFACE = Path(__file__).parents[1] / "data" / "extension_api_1.txt"
ENTRIES = """
[mindinsight.kinds]
absent = no_such_module:PLUGIN
exits = bad_exit:PLUGIN
other_name = bad_kinds:NAMED
scalar = bad_kinds:SCALAR
sleepy = bad_slow:PLUGIN
slow = bad_kinds:SLOW
text = bad_kinds:NOT_A_PLUGIN
[mindinsight.dump_layouts]
raises = bad_layout:LAYOUT
[mindinsight.checks]
mine = bad_checks:CHECKS
numbers = bad_checks:NUMBERS
[mindinsight.commands]
raises = bad_kinds:command
start = bad_kinds:command
"""
MODULES = {
    "bad_slow": "import time\ntime.sleep(60)",
    "bad_exit": "raise SystemExit('stop the server')",
    "bad_kinds": """
from fastapi import APIRouter
from mindinsight.extension import PayloadRoute, Plugin
NAMED = Plugin("another", APIRouter(route_class=PayloadRoute))
SCALAR = Plugin("scalar", APIRouter(route_class=PayloadRoute))
endless = APIRouter()
@endless.get("/never")
async def never():
    while True:
        pass
SLOW = Plugin("slow", endless)
NOT_A_PLUGIN = "text"
def command(subparsers):
    raise RuntimeError("no command today")
""",
    "bad_layout": """
from mindinsight.extension import Layout
class Raises(Layout):
    name = "raises"
    def match(self, path):
        raise RuntimeError("no match today")
    def open_dump(self, path):
        raise NotImplementedError
LAYOUT = Raises()
""",
    "bad_checks": """
from mindinsight.extension import Name, Verdict, condition
@condition(Name("tensor_overflow", "TO", "tensor"))
def CHECKS(sample, limits):
    return Verdict(True)
NUMBERS = (1, 2)
""",
}
SERVER = """
import json, time
from pathlib import Path
from fastapi.testclient import TestClient
from mindinsight.server import extensions
extensions.SECONDS = 0.5
from mindinsight.server.app import create_app
from mindinsight.server.debug.conditions import conditions
from mindinsight.server.formats.dumps import find_layout
from mindinsight.server.settings import Settings
app = create_app(Settings(Path({base!r}), Path({base!r}) / "workspace", workers=1))
with TestClient(app, base_url="http://127.0.0.1") as client:
    known = client.get("/v2/extensions").json()["extensions"]
    paths = ("/", "/scalar", "/v2/runs", "/v2/slow/never", "/health")
    codes = [client.get(path).status_code for path in paths]
    checks = conditions()["tensor_overflow"].rule.__module__
    layout = find_layout({dump!r}).name
    print(json.dumps([known, codes, checks, layout]))
"""
DUMP = Path(__file__).parents[1] / "data" / "dumps" / "ms_sync_v2_0_names"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path of Python with a distribution whose extensions are all broken."""
    folder = tmp_path_factory.mktemp("broken")
    info = folder / "bad-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    for name, code in MODULES.items():
        (folder / f"{name}.py").write_text(code)
    return folder


def run(broken: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(broken), "HOME": str(broken)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_what_is_broken_is_named_and_takes_nothing_down(broken: Path, tmp_path: Path) -> None:
    result = run(broken, "-c", SERVER.format(base=str(tmp_path), dump=str(DUMP)))
    assert result.returncode == 0, result.stderr
    known, codes, checks, layout = json.loads(result.stdout.splitlines()[-1])
    errors = {(entry["group"].partition(".")[2], entry["name"]): entry["error"] for entry in known}
    assert errors == {
        ("kinds", "absent"): "ModuleNotFoundError: No module named 'no_such_module'",
        ("kinds", "exits"): "SystemExit: stop the server",
        ("kinds", "other_name"): "the entry point is named 'other_name', the kind 'another'",
        ("kinds", "scalar"): "there is a kind 'scalar' already",
        ("kinds", "sleepy"): "it was not loaded within 0.5 s",
        ("kinds", "slow"): "a route is not a PayloadRoute, and would have no deadline",
        ("kinds", "text"): "str is not a Plugin",
        ("dump_layouts", "raises"): "",
        ("checks", "mine"): "the id of a check does not begin with mine.: tensor_overflow",
        ("checks", "numbers"): "a check is not made by @condition",
        ("commands", "raises"): "",
        ("commands", "start"): "",
    }
    assert {entry["distribution"] for entry in known} == {"bad 2.0"}
    assert codes == [200, 200, 200, 404, 200]
    assert checks == "mindinsight.server.debug.conditions.tensor_rules"
    assert layout == "sync"  # although another layout raises


def test_a_broken_command_is_named_beside_the_others(broken: Path) -> None:
    result = run(broken, "-m", "mindinsight.server.commands.main", "--help")
    assert result.returncode == 0
    assert "start a server" in result.stdout
    assert "The command raises of bad 2.0 is left out: RuntimeError: no command today" in result.stderr
    version = run(broken, "-m", "mindinsight.server.commands.main", "ls", "--help")
    assert (version.returncode, version.stderr) == (0, "")  # our commands load none of others


def page(folder: Path, description: str = '{"order": 1, "needs": []}', **texts: str) -> Path:
    (folder / "locales").mkdir(parents=True)
    (folder / f"{folder.name}.js").write_text("export const alone = true;\nexport function mount() {}\n")
    (folder / "view.json").write_text(description)
    (folder / "locales" / "en.json").write_text(json.dumps(texts))
    return folder


def test_a_page_adds_its_own_texts_only(tmp_path: Path) -> None:
    from mindinsight.server.api.pages import WEB

    texts = {"mine.title": "Mine", "nav.mine": "My page", "nav.runs": "Hijacked"}
    folder = page(tmp_path / "mine", **texts)
    before, assets = Assets(WEB), Assets(WEB, views=[("mine", folder)])
    assert assets.text("en")["nav.mine"] == "My page"
    assert assets.text("en")["nav.runs"] == before.text("en")["nav.runs"]
    assert assets.text("zh")["nav.mine"] == "mine"  # it has no Chinese texts
    assert "bundle/views/mine.js" in assets and "js/views/mine.js" in assets
    assert assets.scripts == before.scripts  # the bundle is as fresh as before
    assert assets.digest != before.digest


@pytest.mark.parametrize("description", ["", "[]", '{"order": "first", "needs": []}', '{"order": 1}'])
def test_a_page_with_a_broken_description_is_left_out(tmp_path: Path, description: str) -> None:
    from mindinsight.server.api.pages import WEB

    assets = Assets(WEB, views=[("mine", page(tmp_path / "mine", description))])
    assert "js/views/mine.js" not in assets


def test_a_page_does_not_replace_ours(tmp_path: Path) -> None:
    from mindinsight.server.api.pages import WEB

    before, assets = Assets(WEB), Assets(WEB, views=[("scalar", page(tmp_path / "scalar"))])
    assert assets.plain("js/views/scalar.js") == before.plain("js/views/scalar.js")


def test_what_extensions_may_import_stays() -> None:
    """A name may be added, with a higher API_VERSION; none may go within a major version."""
    names = SURFACE.read_text().split()
    assert sorted(mindinsight.extension.__all__) == names
    assert mindinsight.extension.API_VERSION == 1
    missing: list[Any] = [name for name in names if not hasattr(mindinsight.extension, name)]
    assert missing == []


def test_without_extensions_nothing_is_known() -> None:
    assert [extensions.names(group) for group in extensions.GROUPS] == [(), (), (), ()]
    assert extensions.views() == ()
