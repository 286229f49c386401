"""The list of alerts over real files: what training code said, what rules find, in pages and as it grows."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.app import create_app
from mindinsight.server.plugins.alert import alert_cache
from mindinsight.server.settings import Settings
from mindinsight.server.store.series import ScalarSeries
from mindinsight.writer import SummaryRecord
from mindinsight.writer.encoding import wire
from tests.flight import unpack


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "base").mkdir()
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, reload_interval=0.1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., Any]:
    """``train("a", loss=[...], alerts={step: (title, level)})`` writes a run, or goes on with it."""

    def write(run: Any, alerts: Any = (), first: int = 0, **scalars: Any) -> None:
        with SummaryRecord(tmp_path / "base" / run) as record:
            for step, numbers in enumerate(zip(*scalars.values(), strict=True), first):
                for tag, number in zip(scalars, numbers, strict=True):
                    record.add_value("scalar", tag, number)
                record.record(step)
            for step, title, level in alerts:
                record.alert(title, f"about {title}", level, step)

    return write


@pytest.fixture
def ask(client: Any) -> Callable[..., Any]:
    """``ask(until=..., run=[...])``: the answer, once ``until`` holds of it."""

    def get(until: Any = lambda answer: True, **params: Any) -> Any:
        end = time.monotonic() + 120
        while True:
            answer = client.get("/v2/alert/list", params=params)
            assert answer.status_code == 200, answer.text
            if until(answer.json()) or time.monotonic() > end:
                return answer.json()
            time.sleep(0.02)

    return get


def total(count: Any) -> Callable[..., Any]:
    return lambda answer: answer["total"] == count


def brief(answer: Any) -> list[Any]:
    return [
        (alert["run"], alert["title"] or alert["tag"], alert["step"], alert["level"])
        for alert in answer["alerts"]
    ]


def test_nothing_is_an_empty_list(ask: Callable[..., Any], train: Callable[..., Any]) -> None:
    train("a", loss=[1.0, 2.0])
    answer = ask()
    assert (answer["alerts"], answer["total"]) == ([], 0)


def test_what_the_training_code_said_is_listed_newest_first(
    ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    train("a", [(3, "first", "info"), (9, "second", "error")], loss=[1.0])
    answer = ask(total(2))
    assert brief(answer) == [("./a", "second", 9, "error"), ("./a", "first", 3, "info")]
    alert = answer["alerts"][0]
    assert (alert["text"], alert["rule"], alert["tag"], alert["value"], alert["count"]) == (
        "about second", None, None, None, 1)  # fmt: skip
    assert abs(alert["wall"] - answer["now"]) < 3600


def test_points_of_a_condition_are_one_alert(ask: Callable[..., Any], train: Callable[..., Any]) -> None:
    train("a", loss=[1.0, math.nan, math.inf, 1.0, -math.inf])
    (alert,) = ask(total(1))["alerts"]
    assert (alert["rule"], alert["tag"], alert["step"], alert["count"]) == ("not_finite", "loss", 1, 3)
    assert (alert["value"], alert["level"]) == ("nan", "error")
    assert (alert["ongoing"], alert["recovery"]) == (False, None)  # the run has finished at -Inf


def test_points_that_a_restart_replaced_are_said_to_be_replaced(
    ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    train("a", loss=[1.0, math.nan, math.nan])
    assert [alert["replaced"] for alert in ask(total(1))["alerts"]] == [False]
    train("a", loss=[2.0, 3.0, 4.0], first=1)
    answer = ask(lambda answer: any(alert["replaced"] for alert in answer["alerts"]))
    assert [(alert["step"], alert["replaced"]) for alert in answer["alerts"]] == [(1, True)]


def test_rules_of_people_find_what_is_there_already_and_what_comes(
    client: Any, ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    train("a", loss=[1.0, 20.0, 30.0], acc=[0.5, 0.5, 0.5])
    ask(lambda answer: any(run["read"] for run in client.get("/v2/runs").json()["runs"]))
    rule = {"condition": "above", "tags": "lo*", "limit": 10, "level": "info"}
    client.post("/v2/alert/rules", json={**rule, "recorded": True})
    client.post("/v2/alert/rules", json={**rule, "limit": 11})  # not for what is there
    (alert,) = ask(total(1))["alerts"]
    assert (alert["rule"], alert["step"], alert["value"], alert["count"], alert["ongoing"]) == (
        "1",
        1,
        20.0,
        2,
        False,
    )
    assert (alert["condition"], alert["limit"], alert["level"]) == ("above", 10.0, "info")
    train("a", loss=[40.0, 50.0, 2.0], acc=[0.5, 0.5, 0.5], first=3)
    answer = ask(lambda answer: answer["total"] == 2 and all(alert["recovery"] for alert in answer["alerts"]))
    newest, oldest = answer["alerts"]
    assert (oldest["id"], oldest["step"], oldest["count"]) == (alert["id"], 1, 4)
    assert (newest["rule"], newest["step"], newest["count"]) == ("2", 3, 2)
    assert {alert["recovery"]["values"]["step"] for alert in answer["alerts"]} == {5}


def test_a_rule_that_is_off_changed_or_gone_finds_nothing_of_before(
    client: Any, ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    rule = {"condition": "below", "tags": "loss", "limit": 0.5}
    train("a", loss=[0.4, 1.0, 0.1])
    client.post("/v2/alert/rules", json={**rule, "recorded": True})
    assert [alert["step"] for alert in ask(total(1))["alerts"]] == [0]
    client.put("/v2/alert/rules", params={"id": "1"}, json={**rule, "limit": 0.2})
    assert [alert["step"] for alert in ask(total(1))["alerts"]] == [2]
    client.put("/v2/alert/rules", params={"id": "1"}, json={**rule, "on": False})
    assert ask()["total"] == 0
    client.put("/v2/alert/rules", params={"id": "1"}, json=rule)
    assert ask()["total"] == 1
    client.put("/v2/alert/rules", params={"id": "1"}, json={**rule, "recorded": False})
    assert ask()["total"] == 0
    client.delete("/v2/alert/rules", params={"id": "1"})
    assert ask()["total"] == 0


def test_a_rule_over_ranks_says_which_strays_and_how(
    client: Any, ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    for rank in range(3):
        train(
            f"job/rank_{rank}",
            ms=[(1.5 if rank == 1 and step >= 30 else 1.0) + 0.01 * (step % 3) for step in range(60)],
        )
    train("alone/rank_0", ms=[1.0, math.nan])
    assert ask(total(1))["alerts"][0]["condition"] == "not_finite"
    client.post(
        "/v2/alert/rules", json={"condition": "strays", "tags": "m*", "level": "info", "recorded": True}
    )
    (alert,) = ask(total(1), level="info")["alerts"]
    assert (alert["run"], alert["tag"], alert["step"], alert["condition"]) == (
        "./job/rank_1",
        "ms",
        30,
        "strays",
    )
    assert (alert["stray"]["kind"], alert["stray"]["last_step"]) == ("lasting", None)
    assert alert["stray"]["relative"] == pytest.approx(0.5, abs=0.01)
    client.post("/v2/alert/rules", json={"condition": "strays", "tags": "other"})
    assert ask()["total"] == 2


def test_the_list_is_cut_by_run_level_time_and_place(
    ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    train("a", [(1, "a1", "info"), (2, "a2", "warning")], loss=[1.0])
    ask(total(2))
    train("b", [(3, "b3", "error"), (4, "b4", "info")], loss=[1.0])
    every = ask(total(4))["alerts"]
    assert [alert["title"] for alert in every] == ["b4", "b3", "a2", "a1"]
    assert [alert["title"] for alert in ask(run=["./a", "./none"])["alerts"]] == ["a2", "a1"]
    assert [alert["title"] for alert in ask(level=["error", "warning"])["alerts"]] == ["b3", "a2"]
    rest = ask(without=["./b"])
    assert ([alert["title"] for alert in rest["alerts"]], rest["total"]) == (["a2", "a1"], 2)
    later = ask(since=every[2]["wall"], limit=1)
    assert ([alert["title"] for alert in later["alerts"]], later["total"]) == (["b4"], 2)
    paged = [ask(skip=skip, limit=3) for skip in (0, 3, 6)]
    assert [[alert["title"] for alert in page["alerts"]] for page in paged] == [
        ["b4", "b3", "a2"],
        ["a1"],
        [],
    ]
    assert [page["total"] for page in paged] == [4, 4, 4]


def test_alerts_leave_with_their_run(
    client: Any, ask: Callable[..., Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    train("a", [(1, "gone soon", "info")], loss=[1.0])
    train("b", [(1, "stays", "info")], loss=[1.0])
    ask(total(2))
    for path in (tmp_path / "base" / "a").iterdir():
        path.unlink()
    (tmp_path / "base" / "a").rmdir()
    assert [alert["title"] for alert in ask(total(1))["alerts"]] == ["stays"]


def leave_open(base: Any, run: Any, wall: Any) -> None:
    """A file that a killed training leaves: two scalars at a wall time (Unix seconds) and no end."""
    events = [Event(wall_time=wall, step=step) for step in (0, 1)]
    for event in events:
        event.summary.value.add(tag="loss", scalar_value=1.0)
    path = base / run / "events.out.events.summary.1700000000.0.host_MS"
    path.parent.mkdir(parents=True)
    written = path.with_name("copy")  # a file of its time without events would be silent too, with no step
    written.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in events))
    written.chmod(0o600)
    written.rename(path)


def test_a_training_that_was_killed_is_said_after_the_time_of_a_rule(
    client: Any, ask: Callable[..., Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    leave_open(tmp_path / "base", "killed", 1_700_000_000)
    train("ended", loss=[1.0, 2.0])
    client.post("/v2/alert/rules", json={"condition": "silent", "limit": 10, "recorded": True})
    answer = ask(lambda answer: [alert["wall"] for alert in answer["alerts"]] == [1_700_000_600])
    (alert,) = answer["alerts"]
    assert (alert["run"], alert["rule"], alert["step"], alert["tag"]) == ("./killed", "1", 1, None)
    assert alert["ongoing"] is True


@pytest.mark.parametrize("wrong", [{"level": "fatal"}, {"skip": -1}, {"limit": 1001}, {"since": "now"}])
def test_what_cannot_be_asked_is_refused(shared_samples: Any, wrong: Any) -> None:
    assert shared_samples().get("/v2/alert/list", params=wrong).status_code == 422


def test_asking_again_looks_at_nothing_that_is_known(
    ask: Callable[..., Any], train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    train("a", [(1, "once", "info")], loss=[1.0, math.nan])
    ask(total(2))
    before = ask()["alerts"]

    def never(*arguments: Any) -> None:
        raise AssertionError("looked at again")

    monkeypatch.setattr(ScalarSeries, "tail", never)
    monkeypatch.setattr(alert_cache, "alert", never)
    assert ask()["alerts"] == before


def test_what_is_not_listed_is_counted(
    ask: Callable[..., Any], train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_cache, "MOST_RECORDED", 2)
    train("a", [(step, f"alert {step}", "info") for step in range(5)], loss=[1.0])
    train("b", [(0, "only one", "error")], loss=[1.0])
    answer = ask(total(3))
    assert answer["left_out"] == 3
    assert [alert["step"] for alert in answer["alerts"] if alert["run"] == "./a"] == [4, 3]
    assert ask(run=["./b"])["left_out"] == 0
    assert ask(level=["error"])["left_out"] == 3


def test_what_cannot_be_read_is_counted(
    ask: Callable[..., Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    train("a", [(0, "first", "info")], loss=[1.0])
    (path,) = (tmp_path / "base" / "a").glob("*MS")
    path.chmod(0o600)  # a recorder takes the right to write away when it closes
    with path.open("ab") as file:
        file.write(encode_record(wire.double(1, 1.7e9) + wire.integer(2, 1) + wire.block(1001, b"\xff\xff")))
    answer = ask(lambda answer: answer["left_out"] == 1)
    assert [alert["title"] for alert in answer["alerts"]] == ["first"]
    assert answer["left_out"] == 1


def test_an_alert_of_the_flight_recorder_names_its_dump(
    ask: Callable[..., Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    unpack("logarithm", tmp_path / "base")
    unpack("wrong_reduction", tmp_path / "base")
    train("b", [(1, "hand-made", "info")])
    answer = ask(total(10))
    dumps = {(alert["run"], alert["step"]): (alert["dump"], alert["dump_rank"]) for alert in answer["alerts"]}
    assert dumps["./logarithm", 25] == ("./logarithm/flight_dump", 0)
    assert dumps["./logarithm", 26] == (None, None)  # the number of dumps was used up
    assert dumps["./wrong_reduction/rank_1", 25] == ("./wrong_reduction/flight_dump", 1)
    assert dumps["./b", 1] == (None, None)


def test_alerts_of_archived_runs_are_counted_and_not_listed(
    client: TestClient, ask: Callable[..., Any], train: Callable[..., Any]
) -> None:
    train("a", [(0, "first", "info"), (1, "second", "error")], loss=[1.0])
    train("b", [(0, "only one", "info")], loss=[1.0])
    assert ask(total(3), archived=False)["archived"] == 0
    client.patch("/v2/runs/notes", json={"run": "./a", "archived": True}).raise_for_status()
    answer = ask(archived=False)
    assert ([alert["run"] for alert in answer["alerts"]], answer["archived"]) == (["./b"], 2)
    assert ask(archived=False, level=["error"])["archived"] == 1
    assert (ask()["total"], ask()["archived"]) == (3, 0)
