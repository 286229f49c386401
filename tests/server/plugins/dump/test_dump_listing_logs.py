"""Routes of the log files of the Running Data Recorder."""

from typing import Any

import pytest

from mindinsight.server.plugins.dump import dump_listing

ORDER = "SESSION.graph_exec_order.0.20261121080229.txt"
TEXT = "first line\nsecond line\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.mktemp("logs")
    folder = base / "run" / "rank_0" / "rdr"
    folder.mkdir(parents=True)
    (folder / ORDER).write_text(TEXT)
    (folder / "SESSION.graph_build.0.20261121080229.pb").write_bytes(b"\x08\x01")
    return base


def test_logs_are_listed(ask: Any) -> None:
    rows = ask("logs", dump="./run")["logs"]
    assert [(row["module"], row["name"], row["kind"]) for row in rows] == [
        ("SESSION", "graph_build", "pb"),
        ("SESSION", "graph_exec_order", "text"),
    ]
    assert {"file": ORDER, "rank": 0, "graph": 0, "size": len(TEXT)}.items() <= rows[1].items()


def test_a_log_is_read_in_parts(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_listing, "_SECTION", 11)
    first = ask("log", dump="./run", file=ORDER)
    assert first == {"text": "first line\n", "next": 11}
    last = ask("log", dump="./run", file=ORDER, offset=22)
    assert last == {"text": "\n", "next": None}


@pytest.mark.parametrize(
    "file", ["nothing.txt", "SESSION.graph_build.0.20261121080229.pb", "../../secret.txt"]
)
def test_only_listed_text_is_read(client: Any, file: str) -> None:
    response = client.get("/v2/dump/log", params={"dump": "./run", "file": file})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_log")
