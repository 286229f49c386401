"""The cache of alerts: sources of training code, rules, strays and silence, renewed where runs changed."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.service import Service
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.plugins.alert import alert_cache, rule_evaluation
from mindinsight.server.plugins.alert.alert_cache import (
    AlertCache,
    AlertsQuery,
    Source,
    alert_list,
    left_out,
    rule_claim,
)
from mindinsight.server.settings import Settings
from mindinsight.server.store.run import Snapshot
from mindinsight.server.store.store import Store
from mindinsight.server.workspace import Workspace
from mindinsight.server.workspace.alert_rules import Rule
from mindinsight.writer import SummaryRecord
from tests.server.plugins.alert.test_rule_evaluation import job
from tests.server.plugins.scalar.runs import WALL, part, run

RULES = {"high": Rule("above", "loss", 5.0, "error"), "nan": Rule("not_finite", "*", level="error")}
NOW = 2e9


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Two runs: ``a`` with two alerts of its code and a loss that is high and then NaN, ``b`` healthy."""
    for name, losses in (("a", [1.0, 9.0, 9.0, 1.0, np.nan]), ("b", [1.0, 2.0])):
        with SummaryRecord(tmp_path / "base" / name) as record:
            for step, loss in enumerate(losses):
                record.add_value("scalar", "loss", loss)
                record.record(step)
            if name == "a":
                record.alert("late", "about late", "warning", 3)
                record.alert("early", "about early", "info", 1)
    store = Store()
    Loader(Settings(tmp_path / "base", tmp_path / "workspace", workers=1), store).load()
    return store.snapshot()


def by_origin(sources: list[Source]) -> dict[tuple[str, str, str], list[int]]:
    return {(source.run, source.rule, source.level): source.steps.tolist() for source in sources}


def test_alerts_of_the_code_and_of_rules_are_sources_by_origin_and_level(snapshot: Snapshot) -> None:
    sources = AlertCache().sources(snapshot, RULES, NOW)
    assert by_origin(sources) == {
        ("./a", "", "info"): [1],
        ("./a", "", "warning"): [3],
        ("./a", "high", "error"): [1],
        ("./a", "nan", "error"): [4],
    }
    (high,) = [source for source in sources if source.rule == "high"]
    assert high.counts is not None
    assert high.counts.tolist() == [2]
    assert high.values is not None
    assert high.values.tolist() == [9.0]
    (late,) = [source for source in sources if source.level == "warning"]
    assert [content.title for content in late.contents] == ["late"]


def test_what_holds_at_the_end_goes_on_only_while_the_run_does(snapshot: Snapshot) -> None:
    def ongoing(finished: bool) -> list[bool]:
        run = replace(snapshot.runs["./a"], finished=finished)
        sources = AlertCache().sources(replace(snapshot, runs={"./a": run}), RULES, NOW)
        return [source.ongoing for source in sources if source.rule == "nan"]

    assert (ongoing(finished=False), ongoing(finished=True)) == ([True], [False])


def test_silence_begins_after_the_last_point(snapshot: Snapshot) -> None:
    running = replace(snapshot.runs["./b"], finished=False)
    assert snapshot.runs["./a"].finished
    open_one = replace(snapshot, runs={**snapshot.runs, "./b": running})

    def silent(now: float) -> list[Source]:
        sources = AlertCache().sources(open_one, {"quiet": Rule("silent", "*", 1.0)}, now)
        return [source for source in sources if source.rule]

    assert silent(running.last_event + 50) == []
    (source,) = silent(running.last_event + 70)
    assert (source.run, source.rule, source.ongoing) == ("./b", "quiet", True)
    assert source.steps.tolist() == [1]
    assert source.walls[0] == running.last_event + 60


def test_unchanged_runs_are_not_looked_at_again(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = AlertCache()
    before = by_origin(cache.sources(snapshot, RULES, NOW))

    def never(*arguments: object) -> None:
        raise AssertionError("looked at again")

    monkeypatch.setattr(alert_cache, "alert", never)
    monkeypatch.setattr(rule_evaluation, "rule_intervals", never)
    assert by_origin(cache.sources(snapshot, dict(RULES), NOW)) == before


def test_runs_and_rules_that_are_gone_leave_nothing(snapshot: Snapshot) -> None:
    cache = AlertCache()
    cache.sources(snapshot, RULES, NOW)
    assert not [source for source in cache.sources(snapshot, {}, NOW) if source.rule]
    assert cache.sources(replace(snapshot, runs={}), RULES, NOW) == []


def test_only_the_newest_alerts_of_the_code_are_read_and_the_rest_is_counted(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_cache, "MOST_RECORDED", 1)
    sources = AlertCache().sources(snapshot, {}, NOW)
    assert by_origin(sources) == {("./a", "", "info"): [1]}  # recorded last
    assert left_out(sources, snapshot.runs.values()) == 1


def test_a_rank_that_strays_is_a_source(snapshot: Snapshot) -> None:
    runs = {run.id: run for run in job()}
    (source,) = AlertCache().sources(replace(snapshot, runs=runs), {"1": Rule("strays", "loss")}, NOW)
    assert (source.run, source.rule, source.tag, source.level) == ("./job/2", "1", "loss", "warning")
    (stray,) = source.strays
    assert source.steps.tolist() == [stray.step]
    assert source.counts is not None
    assert source.counts.tolist() == [stray.count]


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """Two runs; one has two stretches of values that are not finite, the other has one."""
    runs = [
        run("./a", loss=[part(range(5), [1, math.nan, math.inf, 1, -math.inf])]),
        run("./b", loss=[part(range(2), [1, math.nan])]),
    ]
    snapshot = Snapshot(1, {record.id: record for record in runs}, 0, "/x", "polling", WALL)
    absent: Any = None
    store: Any = SimpleNamespace(snapshot=lambda: snapshot)
    workspace = Workspace(tmp_path, tmp_path, lambda: snapshot.bases)
    return Service(absent, store, absent, workspace, absent, started=WALL)


def test_alerts_of_all_runs_the_newest_first(service: Service) -> None:
    answer = alert_list(service, AlertsQuery())
    assert [(alert["run"], alert["step"], alert["count"]) for alert in answer["alerts"]] == [
        ("./a", 1, 3), ("./b", 1, 1),
    ]  # fmt: skip
    assert (answer["total"], answer["left_out"]) == (2, 0)


def test_of_some_runs_and_a_part_of_them(service: Service) -> None:
    assert [alert["step"] for alert in alert_list(service, AlertsQuery(run=["./a"]))["alerts"]] == [1]
    part_of_them = alert_list(service, AlertsQuery(skip=1, limit=1))
    assert ([alert["run"] for alert in part_of_them["alerts"]], part_of_them["total"]) == (["./b"], 2)
    assert alert_list(service, AlertsQuery(level=["info"]))["alerts"] == []


def test_each_stretch_counts_its_own_values(tmp_path: Path) -> None:
    """NaN and infinity 40 steps apart are two alerts, of which neither is both."""
    with SummaryRecord(tmp_path / "base" / "a") as record:
        for step in range(60):
            record.add_value("scalar", "loss", {10: np.nan, 11: np.nan, 50: np.inf}.get(step, 1.0))
            record.record(step)
    store = Store()
    Loader(Settings(tmp_path / "base", tmp_path / "workspace", workers=1), store).load()
    snapshot = store.snapshot()
    (source,) = AlertCache().sources(snapshot, {"nan": RULES["nan"]}, NOW)
    claims = [rule_claim(source, row, RULES["nan"], snapshot.runs["./a"]) for row in range(2)]
    assert [claim and claim.key for claim in claims] == ["claim.alert.non_finite"] * 2
    assert (source.steps.tolist(), source.recovered) == ([10, 50], (12, 51))
