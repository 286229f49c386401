"""The example of an extension: built and installed as its user would, and each of its parts at work."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import SummaryRecord

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path of Python with the wheel of the example, unpacked."""
    source = tmp_path_factory.mktemp("source") / "plugin"
    shutil.copytree(ROOT / "examples" / "plugin", source)
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, timeout=120)
    return target


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("confusion") / "base"
    with SummaryRecord(str(base / "run")) as record:
        for step in (1, 2):
            matrix = np.array([[8, 2], [5 - step, 5 + step]], np.float32)
            record.add_value("tensor", "confusion/test", matrix)
            record.record(step)
    folder = base / "run" / "dump" / "step_3"
    folder.mkdir(parents=True)
    (folder.parent / "steps.txt").write_text("")
    np.save(folder / "0.relu.output.0.npy", np.array([0.0, -1.0], np.float32))
    np.save(folder / "1.exp.output.0.npy", np.array([1.0, np.nan], np.float32))
    return base


def python(installed: Path, code: str) -> Any:
    """Run code in a process that has the example; return the JSON that it prints last."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed), "HOME": str(installed)}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


SERVER = """
import json, time
from pathlib import Path
from fastapi.testclient import TestClient
from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
app = create_app(Settings(Path({base!r}), Path({base!r}).parent / "workspace", workers=1))
with TestClient(app, base_url="http://127.0.0.1") as client:
    while not client.get("/v2/runs").json()["runs"]:
        time.sleep(0.05)
    get = lambda path, **params: client.get(path, params=params).json()
    {code}
"""


def test_the_kind_has_routes_and_a_page(installed: Path, base: Path) -> None:
    code = """page = client.get("/confusion").text
    boot = json.loads(page.split('id="boot">')[1].split("</script>")[0])
    view = next(view for view in boot["views"] if view["name"] == "confusion")
    scripts = "bundle" if "/bundle/" in page else "js"
    script = client.get(f"/{boot['assets']}/{scripts}/views/confusion.js")
    texts = get(f"/{boot['assets']}/locales/en.json")
    paths = [path for path in get("/v2/openapi.json")["paths"] if "confusion" in path]
    print(json.dumps([get("/v2/confusion/tags", run="./run"),
        get("/v2/confusion/matrix", run="./run", tag="confusion/test", row=1),
        get("/v2/confusion/matrix", run="./run", tag="confusion/test", row=2)["error"]["code"],
        view["group"], script.status_code, script.headers["content-security-policy"][:19],
        texts["nav.confusion"], paths, get("/v2/extensions")["extensions"]]))"""
    tags, matrix, unknown, group, status, policy, name, paths, known = python(
        installed, SERVER.format(base=str(base), code=code)
    )
    assert tags == {"tags": [{"tag": "confusion/test", "steps": [1, 2]}]}
    assert matrix == {"step": 2, "matrix": [[8, 2], [3, 7]], "accuracy": 0.75, "recall": [0.8, 0.7]}
    assert (unknown, group, status, policy, name) == (
        *("unknown_row", "model", 200),
        *("default-src 'self';", "Confusion"),
    )
    assert paths == ["/v2/confusion/tags", "/v2/confusion/matrix"]
    assert {(e["group"], e["name"], e["error"]) for e in known} == {
        ("mindinsight.kinds", "confusion", ""),
        ("mindinsight.checks", "confusion", ""),
        ("mindinsight.dump_layouts", "npy_steps", ""),
        ("mindinsight.commands", "confusion", ""),
    }
    assert {e["distribution"] for e in known} == {"mindinsight-confusion 1.0"}


def test_the_layout_opens_its_dump_and_the_check_finds_its_tensor(installed: Path, base: Path) -> None:
    code = """rows = get("/v2/dump/tensors", dump="./run/dump", rank=0, step=3)
    while not rows["done"]:
        rows = get("/v2/dump/tensors", dump="./run/dump", rank=0, step=3)
    points = [{"condition": "confusion.nothing_positive"}]
    started = client.post("/v2/dump/check", json={"dump": "./run/dump", "watchpoints": points}).json()
    hits = get(f"/v2/dump/check/{started['check']}")
    while not hits["done"]:
        hits = get(f"/v2/dump/check/{started['check']}")
    print(json.dumps([rows["rows"], hits]))"""
    rows, hits = python(installed, SERVER.format(base=str(base), code=code))
    assert [(row["operator"], row["statistics"]["nans"]) for row in rows] == [("relu", 0), ("exp", 1)], rows
    assert [hit["tensor"]["operator"] for hit in hits["hits"]] == ["relu"]


def test_the_command_prints_the_newest_matrix(installed: Path, base: Path) -> None:
    code = f"""
import contextlib, io, json
from mindinsight.server.commands.main import main
out = io.StringIO()
with contextlib.redirect_stdout(out):
    code = main(["confusion", "run", "--summary-base-dir", {str(base)!r}])
helped = io.StringIO()
with contextlib.redirect_stdout(helped):
    main(["help"])
print(json.dumps([code, out.getvalue(), "confusion" in helped.getvalue()]))"""
    code_, text, helped = python(installed, code)
    assert code_ == 0 and helped
    assert text.splitlines()[0] == "./run confusion/test step 2: accuracy 0.75"
