"""Strays of jobs: which ranks are compared, what is named, and when a job is looked at again."""

from collections.abc import Iterable

import numpy as np
import pytest

from mindinsight.server.curves.rank_differences import Stray
from mindinsight.server.curves.strays import strays
from mindinsight.server.plugins.alert import jobs
from mindinsight.server.plugins.alert.jobs import JobWatch, RankStrays
from mindinsight.server.store.parts import ScalarPart
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarSeries
from mindinsight.server.types import Doubles, Ints
from mindinsight.server.workspace.rules import Rule

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
            scalars={"loss": series(row)},
        )
        for rank, row in enumerate(values)
    ]


def series(values: Doubles) -> ScalarSeries:
    steps = np.arange(len(values), dtype=np.int64)
    walls = steps.astype(np.float64) + 1000
    part = ScalarPart(steps, walls, values.astype(np.float32), np.zeros(1, np.int64))
    return ScalarSeries("loss", [part], version=1, generation=1)


def job_strays(runs: Iterable[Run], rules: dict[str, Rule] | None = None) -> list[tuple[str, RankStrays]]:
    return list(JobWatch().strays(runs, STRAYS if rules is None else rules))


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
    runs[2].scalars["loss"].parts[0].values[20] = 50.0
    ((_, rank),) = job_strays(runs)
    assert {stray.kind for stray in rank.strays} == {"lasting", "spikes"}
    assert len(set(rank.keys.tolist())) == len(rank.strays)


def test_a_job_is_looked_at_again_when_a_hundredth_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def counted(curves: list[tuple[Ints, Doubles]]) -> list[Stray]:
        looks.append(len(curves[0][0]))
        return strays(curves)

    monkeypatch.setattr(jobs, "strays", counted)
    watch = JobWatch()
    for points in (300, 300, 302, 306):
        list(watch.strays(job(points), STRAYS))
    assert looks == [300, 306]
    list(watch.strays(job(306), {}))  # nobody asks: everything is forgotten
    list(watch.strays(job(306), STRAYS))
    assert looks == [300, 306, 306]
