"""The list of runs is encoded once for all who ask, and never shows what is no longer true."""

import asyncio
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.api import run_answers
from mindinsight.server.api.run_answers import FRESH, Listing, Marks, hyper_of, metrics_of, run_divergence
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.workspace.notes import Note
from tests.server.plugins.answers.curves import COURSE
from tests.server.plugins.answers.curves import run as curves_of

PLAIN = {"Accept-Encoding": "identity"}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> Any:
        return self.now


def run(name: Any, **fields: Any) -> Run:
    return Run(f"./{name}", name, f"/base/{name}", f"./{name}", None, 1.0, 2.0, 3, **fields)


@pytest.fixture
def snapshot() -> Snapshot:
    runs = {item.id: item for item in (run("a"), run("b"))}
    return Snapshot(7, runs=runs, left_out=3, base="/base", watch="events", scanned=5.0)


def ids(body: Any) -> list[Any]:
    return [entry["id"] for entry in json.loads(body)["runs"]]


def test_both_forms_say_the_same(snapshot: Snapshot) -> None:
    answer = Listing().whole(snapshot, Marks(), 1)
    assert gzip.decompress(answer.packed) == answer.plain
    body = json.loads(answer.plain)
    assert [entry["id"] for entry in body["runs"]] == ["./a", "./b"]
    assert (body["version"], body["left_out"], body["base"]) == (7, 3, "/base")


def test_one_answer_is_for_all_who_ask_in_the_same_second(snapshot: Snapshot) -> None:
    clock = Clock()
    listing = Listing(clock)
    first = listing.whole(snapshot, Marks(), 1)
    clock.now += FRESH / 2
    assert listing.whole(snapshot, Marks(), 1) is first
    clock.now += FRESH
    later = listing.whole(snapshot, Marks(), 1)
    assert later is not first
    assert json.loads(later.plain)["now"] >= json.loads(first.plain)["now"]


def test_what_changed_is_shown_at_once(snapshot: Snapshot) -> None:
    listing = Listing(Clock())
    listing.whole(snapshot, Marks(), 1)
    runs = {"./b": replace(snapshot.runs["./b"], size=99), "./c": run("c")}
    after = replace(snapshot, version=8, runs=runs)
    body = json.loads(listing.whole(after, Marks({"./c": Note("mine", labels=("x",))}), 2).plain)
    shown = [(entry["id"], entry["size"], entry["note"]) for entry in body["runs"]]
    assert shown == [("./b", 99, ""), ("./c", 3, "mine")]
    assert body["runs"][1]["labels"] == ["x"]


def test_some_runs_come_in_the_order_asked_for(snapshot: Snapshot) -> None:
    runs = snapshot.runs
    assert ids(Listing().some(snapshot, Marks(), [runs["./b"], runs["./a"]])) == ["./b", "./a"]
    assert ids(Listing().some(snapshot, Marks(), [])) == []


def test_names_of_any_kind_stay_what_they_are() -> None:
    odd = run('q"uote\\ \u2028 权重')
    snapshot = Snapshot(1, runs={odd.id: odd}, left_out=0, base="", watch="", scanned=0.0)
    assert ids(Listing().whole(snapshot, Marks(), 1).plain) == [odd.id]


def test_a_client_that_takes_no_gzip_gets_none(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    plain, packed = client.get("/v2/runs", headers=PLAIN), client.get("/v2/runs")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.json()["runs"] == packed.json()["runs"]
    assert "script-src 'self'" in packed.headers["content-security-policy"]


def test_a_note_is_in_the_next_answer(samples: Any) -> None:
    client = samples("lenet")
    before = client.get("/v2/runs").json()["runs"][0]["note"]
    client.patch("/v2/runs/notes", json={"run": "./lenet", "note": "new"})
    assert (before, client.get("/v2/runs").json()["runs"][0]["note"]) == ("", "new")


def test_two_servers_share_no_answers(samples: Any, tmp_path: Path) -> None:
    first = samples("lenet")
    second = samples("record_api/values")
    assert first.app.state.service.parts.of(Listing) is not second.app.state.service.parts.of(Listing)


def test_hyper_parameters_are_single_values() -> None:
    lineage = Lineage(
        TrainLineage(network="Net", learning_rate=0.1), user_defined={"v": "1.0", "all": [1, 2]}
    )
    assert hyper_of(lineage) == {"network": "Net", "learning_rate": 0.1, "v": "1.0"}
    assert hyper_of(None) == {}


def test_results_are_the_last_loss_and_the_metrics() -> None:
    lineage = Lineage(TrainLineage(loss=0.5), EvaluationLineage(metric={"acc": 0.9, "loss": 0.4, "odd": {}}))
    assert metrics_of(lineage) == {"loss": 0.5, "eval/loss": 0.4, "acc": 0.9}
    assert metrics_of(Lineage()) == {}


def test_a_list_of_tags_leaves_the_event_loop(samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 100,000 of them it takes a second, in which nobody else would be answered."""
    encode = run_answers._json

    def outside(content: Any) -> bytes:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return encode(content)

    monkeypatch.setattr(run_answers, "_json", outside)
    assert samples("lenet").get("/v2/tags").json()["tags"]


def test_a_loss_that_ends_in_nan_is_named_once_everything_was_read() -> None:
    def losing(*last: float) -> Run:
        loss = COURSE.copy()
        loss[-len(last) :] = last
        return curves_of("a", {"loss": loss, "norm": np.full(len(COURSE), np.nan)})

    assert [claim.key for claim in run_divergence(losing(*[np.nan] * 3))] == ["claim.run.diverged"]
    assert [claim.key for claim in run_divergence(losing(np.nan))] == ["claim.run.broken_end"]
    assert run_divergence(losing(*[np.nan] * 3, 2)) == []
    assert run_divergence(replace(losing(*[np.nan] * 3), read=3, total=9)) == []
