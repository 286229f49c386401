"""Program of a run and what differs from another one, of files that our writer made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.client import reader
from mindinsight.server.settings import Settings
from mindinsight.writer import SummaryRecord
from tests.server.conftest import wait_until_read

FIRST = {
    "command": ["python", "train.py", "--lr", "0.1"],
    "directory": "/home/me/work",
    "python": "3.11.7",
    "packages": {"numpy": "1.26.4", "Pillow": "10.0", "torch": "2.13.0"},
    "environment": {"OMP_NUM_THREADS": "2"},
    "git": {"commit": "a" * 40, "branch": "main", "diff": "-x\n+y\n", "cut": False, "untracked": 0},
}
SECOND = {
    "command": ["python", "train.py", "--lr", "0.2"],
    "directory": "/home/me/work",
    "python": "3.11.7",
    "packages": {"numpy": "2.0.0", "torch": "2.13.0", "jax": "0.5"},
    "git": {"commit": "a" * 40, "branch": "main", "diff": "-x\n+z\n", "cut": False, "untracked": 0},
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name, given in (("a", FIRST), ("b", SECOND)):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("code", "code", {"python": "older"})
            record.record(0)
            record.add_value("code", "code", given)
            record.record(10)
    with SummaryRecord(str(tmp_path / "base" / "without")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(3)
    return tmp_path / "base"


@pytest.fixture
def client(base: Path, tmp_path: Path) -> Iterator[Any]:
    settings = Settings(summary_base_dir=base, workspace=tmp_path / "workspace", reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, 3)
        yield client


def test_the_newest_program_of_a_run(client: Any) -> None:
    answer = client.get("/v2/code/program?run=./a").json()
    assert {name: answer[name] for name in FIRST if name != "git"} == {
        name: value for name, value in FIRST.items() if name != "git"
    }
    assert answer["git"] == {**FIRST["git"], "remote": ""}  # type: ignore[dict-item]
    missing = client.get("/v2/code/program?run=./without")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "no_code")


def test_what_differs_between_two_programs(client: Any) -> None:
    answer = client.get("/v2/code/difference?run=./a&other_run=./b").json()
    assert answer["packages"] == [
        ["jax", None, "0.5"],
        ["numpy", "1.26.4", "2.0.0"],
        ["Pillow", "10.0", None],
    ]
    assert answer["environment"] == [["OMP_NUM_THREADS", "2", None]]
    assert answer["facts"] == []
    assert [line for line in answer["command"] if line[0] in "+-"] == [["-", "0.2"], ["+", "0.1"]]
    assert [line for line in answer["changes"] if line[0] in "+-"] == [["-", "+z"], ["+", "+y"]]
    assert [claim["key"] for claim in answer["claims"]] == [
        "claim.code.changes_differ",
        "claim.code.packages_differ",
    ]


def test_a_program_is_no_step_of_its_run_and_read_in_python(base: Path, client: Any) -> None:
    run = next(run for run in client.get("/v2/runs").json()["runs"] if run["id"] == "./a")
    assert (run["kinds"], run["step"]) == ({"code": 1}, -1)
    summary = reader.open(base / "a")
    (first, second) = (item.data for item in summary.items("code"))
    assert (first.python, second.git.branch) == ("older", "main")


def test_what_was_not_recorded_is_compared_with_nothing(tmp_path: Path) -> None:
    long = {**FIRST, "git": {"commit": "a", "diff": "+a\n" * 3000, "cut": False, "untracked": 0}}
    for name, given in (("a", long), ("b", SECOND), ("bare", {})):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("code", "code", given)
            record.record(0)
    settings = Settings(
        summary_base_dir=tmp_path / "base", workspace=tmp_path / "workspace", reload_interval=0
    )
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, 3)
        bare = client.get("/v2/code/difference?run=./a&other_run=./bare").json()
        whole = client.get("/v2/code/difference?run=./a&other_run=./b").json()
    assert [bare[name] for name in ("packages", "facts", "command", "changes")] == [[], [], [], []]
    assert whole["cut"] and len(whole["changes"]) == 2000
