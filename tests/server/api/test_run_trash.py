import time
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord


def trash(client: Any, *runs: str) -> Any:
    return client.post("/v2/runs/trash", json={"runs": list(runs)})


def test_runs_go_to_the_trash_and_come_back(samples: Any, tmp_path: Path) -> None:
    client = samples("lenet", "multi_rank", allow_delete=True)
    assert client.get("/v2/runs").json()["deletable"] is True
    body = trash(client, "./lenet", "./multi_rank/rank_1").json()
    assert body["moved"] == ["./lenet", "./multi_rank/rank_1"]
    assert not (tmp_path / "base" / "lenet").exists()
    assert (tmp_path / ".base.trash" / body["stamp"] / "multi_rank" / "rank_1").is_dir()
    listed = client.get("/v2/runs/trash").json()["runs"]
    assert [(entry["run"], entry["stamp"]) for entry in listed] == [
        (run, body["stamp"]) for run in body["moved"]
    ]
    assert abs(listed[0]["deleted"] - time.time()) < 3600
    restore = {"runs": body["moved"], "stamp": body["stamp"]}
    assert client.post("/v2/runs/trash/restore", json=restore).json() == {
        "moved": body["moved"],
        "refused": {},
    }
    assert (tmp_path / "base" / "lenet").is_dir()
    assert client.get("/v2/runs/trash").json() == {"runs": []}
    assert not (tmp_path / ".base.trash").exists(), "empty folders go with what was in them"


@pytest.mark.parametrize("settings", [{}, {"allow_delete": True, "host": "0.0.0.0"}])
def test_nothing_is_moved_unless_it_was_allowed_to_known_people(
    samples: Any, tmp_path: Path, settings: Any
) -> None:
    client = samples("lenet", **settings)
    assert client.get("/v2/runs").json()["deletable"] is False
    assert client.get("/v2/runs/trash").json() == {"runs": []}
    answer = trash(client, "./lenet")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "may_not_delete")
    assert (tmp_path / "base" / "lenet").is_dir()


def test_a_page_of_another_site_moves_nothing(samples: Any, tmp_path: Path) -> None:
    client = samples("lenet", allow_delete=True)
    client.headers["Origin"] = "http://other.example"
    assert trash(client, "./lenet").status_code == 403
    assert (tmp_path / "base" / "lenet").is_dir()


def test_a_run_that_is_written_or_holds_others_stays(samples: Any, tmp_path: Path) -> None:
    for name in ("live", "outer", "outer/inner"):
        record = SummaryRecord(str(tmp_path / "base" / name))
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        record.flush() if name == "live" else record.close()
        if name == "live":
            live = record
    client = samples(allow_delete=True)
    until = time.monotonic() + 30
    while len(client.get("/v2/runs").json()["runs"]) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    body = trash(client, "./live", "./outer").json()
    assert body["moved"] == []
    assert body["refused"] == {"./live": {"key": "trash.running"}, "./outer": {"key": "trash.holds_runs"}}
    body = trash(client, "./outer", "./outer/inner").json()
    assert body["moved"] == ["./outer"], "what is in it goes with it"
    live.close()


def test_the_base_directory_itself_stays(samples: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    client = samples(allow_delete=True)
    (run,) = client.get("/v2/runs").json()["runs"]
    assert trash(client, run["id"]).json()["refused"] == {run["id"]: {"key": "trash.base"}}


@pytest.mark.parametrize(
    "body",
    [
        {"runs": ["./../etc"], "stamp": "20260101-000000-000000"},
        {"runs": ["./x"], "stamp": "20260101-000000-000000"},
    ],
)
def test_what_is_not_in_the_trash_is_not_restored(samples: Any, body: Any) -> None:
    client = samples("lenet", allow_delete=True)
    answer = client.post("/v2/runs/trash/restore", json=body).json()
    assert answer["moved"] == []
    assert answer["refused"][body["runs"][0]]["key"] == "trash.failed"


@pytest.mark.parametrize("stamp", ["..", "20260101-000000-000000/..", ""])
def test_a_stamp_is_no_path(samples: Any, stamp: str) -> None:
    client = samples("lenet", allow_delete=True)
    body = {"runs": ["./lenet"], "stamp": stamp}
    assert client.post("/v2/runs/trash/restore", json=body).status_code == 422


def test_an_unknown_run_is_said(samples: Any) -> None:
    assert trash(samples("lenet", allow_delete=True), "./gone").status_code == 404
