"""Routes of a console, of files that our writer made."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.writer import SummaryRecord
from tests.server.conftest import wait_until_read


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("a", "without"):
        with SummaryRecord(tmp_path / "base" / name) as record:
            if name == "a":
                record.record_console()
            record.add_value("scalar", "loss", 1.0)
            record.record(1)
            for number in range(50):
                os.write(1, f"\x1b[1mline\x1b[0m {number}\n".encode())
    return tmp_path / "base"


@pytest.fixture
def client(base: Path, tmp_path: Path) -> Iterator[Any]:
    settings = Settings(summary_base_dir=base, workspace=tmp_path / "workspace", reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, 2)
        yield client


def texts(answer: Any) -> list[str]:
    return [line[2] for line in answer.json()["lines"]]


def test_runs_with_a_console_say_so(client: Any) -> None:
    kinds = {run["id"]: run["kinds"] for run in client.get("/v2/runs").json()["runs"]}
    assert kinds == {"./a": {"scalar": 1, "console": 1}, "./without": {"scalar": 1}}


def test_the_last_lines_then_those_before_them(client: Any) -> None:
    answer = client.get("/v2/console/lines?run=./a&n=10")
    assert texts(answer) == [f"\x1b[1mline\x1b[0m {number}" for number in range(40, 50)]
    assert {line[1] for line in answer.json()["lines"]} <= {"o", "b"}
    earlier = client.get(
        "/v2/console/lines", params={"run": "./a", "before": answer.json()["first"], "n": 100}
    )
    assert texts(earlier)[1:] == [f"\x1b[1mline\x1b[0m {number}" for number in range(40)]
    assert earlier.json()["lines"][0][1:3] == ["start", str(os.getpid())]
    assert earlier.json()["first"] is None
    later = client.get("/v2/console/lines", params={"run": "./a", "after": answer.json()["last"]})
    assert texts(later) == []
    assert later.json()["last"] == answer.json()["last"]


def test_new_lines_come_after_the_last_place(client: Any, base: Path) -> None:
    last = client.get("/v2/console/lines?run=./a").json()["last"]
    (path,) = (base / "a").glob("console.*.log")
    with path.open("ab") as file:
        file.write(b"2000000000.000 O half\n")
    answer = client.get("/v2/console/lines", params={"run": "./a", "after": last}).json()
    assert [line[2:3] + line[4:] for line in answer["lines"]] == [["half", True, ""]]
    assert answer["last"] == last  # an unfinished line is asked for again
    with path.open("ab") as file:
        file.write(b"2000000001.000 o whole\n")
    answer = client.get("/v2/console/lines", params={"run": "./a", "after": last}).json()
    assert [line[2:3] + line[4:] for line in answer["lines"]] == [["whole", False, ""]]


def test_a_time_leads_to_the_lines_from_then_on(client: Any) -> None:
    lines = client.get("/v2/console/lines?run=./a").json()["lines"]
    answer = client.get("/v2/console/lines", params={"run": "./a", "time": lines[-1][0] - 1e-4, "n": 1})
    assert answer.json()["lines"][0][0] == lines[-1][0]


def test_a_search_finds_lines_and_says_where_to_go_on(client: Any) -> None:
    answer = client.get("/v2/console/search?run=./a&query=linE%20&n=200").json()
    assert len(answer["lines"]) == 50  # a colour ends between the word and the space
    answer = client.get("/v2/console/search", params={"run": "./a", "query": " 4", "n": 200}).json()
    assert [line[2][-2:].strip() for line in answer["lines"]] == ["4", *map(str, range(40, 50))]
    assert answer["next"] is None


def test_errors_are_counted_and_listed_with_their_tracebacks(client: Any, base: Path) -> None:
    (path,) = (base / "a").glob("console.*.log")
    trace = ["Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: shapes differ"]
    with path.open("a") as file:
        for text in ["0 errors", "WARNING: slow", *trace, "ERROR again"]:
            file.write(f"2000000000.000 e {text}\n")
    counted = client.get("/v2/console/levels?run=./a").json()
    assert counted["counts"] == {"error": 2, "warning": 1, "nan": 0}
    assert (counted["lines"], counted["next"]) == ([], None)
    listed = client.get("/v2/console/levels?run=./a&level=error&n=1")
    assert texts(listed) == trace
    assert [row[5] for row in listed.json()["lines"]] == ["error", "trace", "trace"]
    further = client.get(
        "/v2/console/levels", params={"run": "./a", "level": "error", "after": listed.json()["next"]}
    )
    assert texts(further) == ["ERROR again"]
    newest = client.get("/v2/console/lines?run=./a&n=2").json()["lines"]
    assert [row[5] for row in newest] == ["trace", "error"]


@pytest.mark.parametrize(
    "address",
    ["lines?run=./without", "search?run=./without&query=x", "levels?run=./without", "lines?run=./none"],
)
def test_a_run_without_a_console_is_said_to_have_none(client: Any, address: str) -> None:
    answer = client.get(f"/v2/console/{address}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] in ("no_console", "unknown_run")


@pytest.mark.parametrize(
    "where", ["../../etc/passwd@0", "@", "x@y", "console.9999999999.1.0000.log@5", "%00@1"]
)
def test_any_place_is_one_of_the_console(client: Any, where: str) -> None:
    for name in ("before", "after"):
        answer = client.get("/v2/console/lines", params={"run": "./a", name: where})
        assert answer.status_code == 200
        assert all("line" in text or text.isdecimal() for text in texts(answer))


def test_files_that_are_links_are_not_read(client: Any, base: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1000.000 o secret\n")
    (base / "a" / "console.9000000000.1.0000.log").symlink_to(tmp_path / "secret")
    assert "secret" not in client.get("/v2/console/lines?run=./a").text
