"""One rule over a series that grows, against one that looks at all of it anew."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.rank_anomaly import RankOutlier
from mindinsight.server.curves.rank_outliers import find_outliers
from mindinsight.server.plugins.alert import rule_evaluation
from mindinsight.server.plugins.alert.rule_evaluation import (
    Divergences,
    JobWatch,
    RuleIntervals,
    recoveries,
    rule_intervals,
    series_of_rule,
    silent_since,
    stretches,
)
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarPart, ScalarSeries
from mindinsight.server.types import Doubles, FileState, Ints
from mindinsight.server.workspace.alert_rules import Rule


def back(state: RuleIntervals) -> int | None:
    """The step of the first value after the last interval."""
    return recoveries(state, stretches(state.intervals))[-1] if len(state.steps) else None


STRAYS = {"1": Rule("strays", "loss*")}


def job(points: int = 300, ranks: int = 4, slow: int | None = 2, name: str = "job") -> list[Run]:
    """The ranks of a job, one of them twice the others from the middle on."""
    values = 1 + 0.03 * np.random.default_rng(0).standard_normal((ranks, 1000))[:, :points]
    if slow is not None:
        values[slow, points // 2 :] *= 2
    return [
        Run(
            f"./{name}/{rank}",
            str(rank),
            "/base",
            f"./{name}",
            rank,
            0.0,
            0.0,
            0,
            scalars={"loss": series_of_jobs(row)},
        )
        for rank, row in enumerate(values)
    ]


def series_of_jobs(values: Doubles) -> ScalarSeries:
    steps = np.arange(len(values), dtype=np.int64)
    walls = steps.astype(np.float64) + 1000
    part = ScalarPart(steps, walls, values.astype(np.float32), np.zeros(1, np.int64))
    return ScalarSeries("loss", [part], version=1, generation=1)


def job_strays(runs: Iterable[Run], rules: dict[str, Rule] | None = None) -> list[tuple[str, Divergences]]:
    return list(JobWatch().outliers(runs, STRAYS if rules is None else rules))


def test_the_rank_that_strays_is_named_with_its_step_and_time() -> None:
    ((rule, rank),) = job_strays(job())
    assert (rule, rank.run, rank.tag) == ("1", "./job/2", "loss")
    (stray,) = rank.strays
    assert stray.kind == "lasting"
    assert rank.steps.tolist() == [stray.step]
    assert rank.walls.tolist() == [stray.step + 1000.0]


def test_a_healthy_job_has_none() -> None:
    assert job_strays(job(slow=None)) == []


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"1": Rule("strays", "loss*", on=False)},
        {"1": Rule("strays", "accuracy")},
        {"1": Rule("above", "loss*", 1e9)},
    ],
)
def test_rules_that_are_off_or_about_something_else_find_nothing(rules: dict[str, Rule]) -> None:
    assert job_strays(job(), rules) == []


def test_each_rule_finds_it_and_jobs_are_apart() -> None:
    rules = {"1": Rule("strays", "loss"), "2": Rule("strays")}
    names = [(rule, rank.run) for rule, rank in job_strays([*job(), *job(name="other", slow=0)], rules)]
    assert sorted(names) == [
        ("1", "./job/2"), ("1", "./other/0"), ("2", "./job/2"), ("2", "./other/0"),
    ]  # fmt: skip


def test_runs_without_rank_and_single_ranks_are_not_compared() -> None:
    assert job_strays(job(ranks=1, slow=0)) == []
    loose = [
        Run(run.id, run.name, run.path, run.job, None, 0.0, 0.0, 0, scalars=run.scalars) for run in job()
    ]
    assert job_strays(loose) == []


def test_keys_of_one_rank_differ_by_step_and_kind() -> None:
    runs = job(slow=2)
    runs[2].scalars["loss"].parts[0].recent[20] = 50.0
    ((_, rank),) = job_strays(runs)
    assert {stray.kind for stray in rank.strays} == {"lasting", "spikes"}
    assert len(set(rank.keys.tolist())) == len(rank.strays)


def test_a_job_is_looked_at_again_when_a_hundredth_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def counted(curves: list[tuple[Ints, Doubles]]) -> list[RankOutlier]:
        looks.append(len(curves[0][0]))
        return find_outliers(curves)

    monkeypatch.setattr(rule_evaluation, "find_outliers", counted)
    watch = JobWatch()
    for points in (300, 300, 302, 306):
        list(watch.outliers(job(points), STRAYS))
    assert looks == [300, 306]
    list(watch.outliers(job(306), {}))  # nobody asks: everything is forgotten
    list(watch.outliers(job(306), STRAYS))
    assert looks == [300, 306, 306]


VALUES = st.sampled_from([-1.0, 0.5, 2.0, np.nan, np.inf, -np.inf])


def part(steps: Any, values: Any) -> ScalarPart:
    steps, values = np.array(steps, np.int64), np.array(values, np.float32)
    starts = np.append(0, np.flatnonzero(steps[1:] < steps[:-1]) + 1)
    return ScalarPart(steps, steps / 10, values, starts)


def series(version: Any, *parts: Any, generation: int = 1) -> ScalarSeries:
    return ScalarSeries("loss", parts, version, generation)


def facts(state: Any) -> tuple[Any, Any]:
    columns = (state.intervals.rows, state.intervals.counts, state.steps, state.walls, state.values)
    return [column.tolist() for column in columns], state.intervals.ongoing


def slowly(points: Any, condition: Any, limit: Any) -> Any:
    """[first step, points] of each stretch, cut where steps go back."""
    tests = {
        "not_finite": lambda value: not np.isfinite(value),
        "above": lambda value: value > limit,
        "below": lambda value: value < limit,
    }
    intervals, inside, last = [], False, None
    for step, value in points:
        back = last is not None and step < last
        if tests[condition](value):
            if not inside or back:
                intervals.append([step, 0])
            intervals[-1][1] += 1
        inside, last = tests[condition](value), step
    return intervals


@given(
    points=st.lists(st.tuples(st.integers(0, 9), VALUES), min_size=1, max_size=40),
    cut=st.integers(0, 40),
    condition=st.sampled_from(["not_finite", "above", "below"]),
)
def test_growing_gives_what_a_look_at_everything_gives(points: Any, cut: Any, condition: Any) -> None:
    steps, values = zip(*points, strict=True)
    whole = series(2, part(steps, values))
    at_once = rule_intervals(None, whole, condition, 0.5)
    pairs = [
        list(pair) for pair in zip(at_once.steps.tolist(), at_once.intervals.counts.tolist(), strict=True)
    ]
    assert pairs == slowly(points, condition, 0.5)
    if 0 < cut < len(points):
        before = rule_intervals(None, series(1, part(steps[:cut], values[:cut])), condition, 0.5)
        np.testing.assert_equal(facts(rule_intervals(before, whole, condition, 0.5)), facts(at_once))


def test_files_that_go_on_with_a_segment_are_one_episode_and_a_restart_is_another() -> None:
    first, on, again = part([1, 2], [0, np.nan]), part([3, 4], [np.nan, 0]), part([2, 3], [np.nan, np.nan])
    state = rule_intervals(None, series(1, first, on, again), "not_finite", 0)
    assert (state.steps.tolist(), state.intervals.counts.tolist()) == ([2, 2], [2, 2])


def test_only_new_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    before = rule_intervals(None, series(1, part(range(1000), np.zeros(1000))), "above", 1)
    tail = ScalarSeries.tail
    monkeypatch.setattr(ScalarSeries, "tail", lambda self, row: looked.append(row) or tail(self, row))
    grown = series(2, part(range(1003), np.append(np.zeros(1000), [2, 2, 0])))
    after = rule_intervals(before, grown, "above", 1)
    assert rule_intervals(after, grown, "above", 1) is after
    assert looked == [1000]
    assert (after.steps.tolist(), after.intervals.counts.tolist()) == ([1000], [2])
    assert not after.intervals.ongoing


@pytest.mark.parametrize(
    "other", [series(2, part([1, 2], [0, 0]), generation=2), series(2, part([1], [0]))], ids=["rows", "fewer"]
)
def test_replaced_rows_are_looked_at_anew(other: Any) -> None:
    before = rule_intervals(None, series(1, part([1, 2], [np.nan, np.nan])), "not_finite", 0)
    assert rule_intervals(before, other, "not_finite", 0).steps.tolist() == []


def run_at(path: Any, **fields: Any) -> Run:
    return Run(**{"id": "./a", "name": "a", "path": str(path), "job": "./a", "rank": None, "created": 0.0,
                  "updated": 1000.0, "size": 1, **fields})  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["loss", "val/loss", "w[0]"]),
        ("*loss", ["loss", "val/loss"]),
        ("loss", ["loss"]),
        ("w[0]", ["w[0]"]),
        ("w[?]", ["w[0]"]),
        ("LOSS", []),
        ("=log(loss) - val/loss", ["=log(loss) - val/loss"]),
        ("=log(accuracy)", []),
        ("=log(", []),  # of an edited file
    ],
)
def test_a_rule_names_tags_or_a_pattern(tmp_path: Path, pattern: str, expected: Any) -> None:
    values = series(1, part([1], [0]))
    run = run_at(tmp_path, scalars={"loss": values, "val/loss": values, "w[0]": values})
    assert list(series_of_rule(run, pattern)) == expected


def ratio(loss: list[float], other: list[float]) -> Any:
    scalars = {
        tag: series(len(values), part(range(len(values)), values))
        for tag, values in (("a", loss), ("b", other))
    }
    return series_of_rule(run_at("/x", scalars=scalars), "=a / b")["=a / b"]


def test_a_formula_is_evaluated_where_its_scalars_share_a_step() -> None:
    before = rule_intervals(None, ratio([1, 8, 1, 8], [2, 2]), "above", 3)
    assert (before.steps.tolist(), before.values.tolist(), back(before)) == ([1], [4.0], None)
    after = rule_intervals(before, ratio([1, 8, 1, 8], [2, 2, 2, 2]), "above", 3)
    assert (after.steps.tolist(), after.intervals.counts.tolist()) == ([1, 3], [1, 1])
    assert rule_intervals(after, ratio([1, 8, 1, 8], [2, 2, 2, 2]), "above", 3) is after
    assert back(rule_intervals(None, ratio([1, 2], [2]), "above", 3)) is None


@pytest.mark.parametrize(
    ("values", "recovered"),
    [
        ([9, 9, 1, 1], 2),
        ([9, np.nan, 1, 1], 2),
        ([9, np.nan, np.nan, np.nan], None),  # neither above nor below
        ([9, 1, 9, 9], None),
        ([9, 1, 9, 1], 3),
        ([1, 1, 1, 1], None),
    ],
)
def test_a_scalar_recovers_with_the_first_value_after_the_last_interval(
    values: list[float], recovered: int | None
) -> None:
    whole = part(range(4), values)
    assert back(rule_intervals(None, series(4, whole), "above", 5)) == recovered
    state = None
    for count in range(1, 5):  # one point after the other
        state = rule_intervals(state, series(count, part(range(count), values[:count])), "above", 5)
    assert state is not None
    assert back(state) == recovered


def test_points_recorded_before_a_rule_are_left_out() -> None:
    whole = series(1, part(range(10), [9] * 10))  # the wall time of a step is a tenth of it
    state = rule_intervals(None, whole, "above", 5, since=0.45)
    assert (state.steps.tolist(), state.intervals.counts.tolist()) == ([5], [5])
    assert rule_intervals(None, whole, "above", 5, since=1.0).steps.tolist() == []


def test_divergences_from_before_a_rule_are_left_out() -> None:
    ((_, rank),) = job_strays(job())
    began = float(rank.walls[0])
    assert job_strays(job(), {"1": Rule("strays", "loss", since=began + 1)}) == []
    ((_, later),) = job_strays(job(), {"1": Rule("strays", "loss", since=began)})
    assert later.strays == rank.strays


def test_ranks_are_compared_in_a_formula() -> None:
    ((_, rank),) = job_strays(job(), {"1": Rule("strays", "=log(loss)")})
    assert (rank.run, rank.tag) == ("./job/2", "=log(loss)")


FILES = (FileState("old", 0, 500.0, 0, 0), FileState("new", 0, 1000.0, 0, 0))


def test_a_run_that_nobody_closed_is_silent_after_its_time(tmp_path: Path) -> None:
    run = run_at(tmp_path, files=FILES, last_event=1000.0)
    assert silent_since(run, 5, 1299.9) is None
    assert silent_since(run, 5, 1300.0) == 1300.0
    assert silent_since(run, 5, 9e9) == 1300.0


def test_silence_is_unknown_while_a_file_is_being_read(tmp_path: Path) -> None:
    read = FileState("new", 300, 1000.0, 200, 0)
    assert silent_since(run_at(tmp_path, files=(read,), last_event=1000.0), 5, 9e9) is None
    for whole in (replace(read, pending=100), replace(read, error="file.permission")):
        assert silent_since(run_at(tmp_path, files=(whole,), last_event=1000.0), 5, 9e9) == 1300.0


def test_a_run_that_ended_is_never_silent(tmp_path: Path) -> None:
    assert silent_since(run_at(tmp_path, files=FILES, finished=True), 5, 9e9) is None
    assert silent_since(run_at(tmp_path), 5, 9e9) is None


def of_points(high: Iterable[int], count: int = 400) -> ScalarSeries:
    values = np.ones(count)
    values[list(high)] = 3.0
    return series_of_jobs(values)


def test_a_second_stretch_is_an_alert_of_its_own() -> None:
    """Three points at the begin and six at step 300 are two faults, whatever comes between them."""
    series = of_points([0, 1, 2, *range(300, 306)])
    state = rule_intervals(None, series, "above", 1.7)
    first = stretches(state.intervals)
    assert state.steps[first].tolist() == [0, 300]
    assert np.add.reduceat(state.intervals.counts, first).tolist() == [3, 6]
    assert recoveries(state, first) == (3, 306)


def test_points_that_flicker_about_a_limit_are_one_alert() -> None:
    series = of_points(range(100, 200, 5))
    state = rule_intervals(None, series, "above", 1.7)
    first = stretches(state.intervals)
    assert state.steps[first].tolist() == [100]
    assert recoveries(state, first) == (196,)


def test_more_stretches_than_twenty_are_in_the_last() -> None:
    series = of_points(range(0, 1200, 20), 1200)
    state = rule_intervals(None, series, "above", 1.7)
    first = stretches(state.intervals)
    assert len(first) == 20
    assert np.add.reduceat(state.intervals.counts, first).tolist() == [*[1] * 19, 41]


def test_stretches_of_a_series_that_grows_recover_where_those_of_all_of_it_do() -> None:
    values = np.ones(400)
    values[[0, 1, *range(50, 60), 61, 399]] = 3.0
    values[60] = np.nan
    state = None
    for count in range(1, 401):
        state = rule_intervals(
            state, series(count, part(range(count), values[:count].tolist())), "above", 1.7
        )
    assert state is not None
    assert recoveries(state, stretches(state.intervals)) == (2, 62, None)
