"""Values with which curves end: medians of runs that are finite there and do not end early."""

from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.plugins.answers.end_values import (
    EndValues,
    common_end_values,
    end_claims,
    end_values,
    values_since,
)
from mindinsight.server.store.run import Run
from mindinsight.writer import SummaryRecord


def runs(base: Path, group: str, ends: list[float], steps: int = 20) -> list[Run]:
    for number, end in enumerate(ends):
        with SummaryRecord(str(base / f"{group}{number}")) as record:
            for step in range(steps):
                record.add_value("scalar", "loss", 1.0 if step < steps - 1 else end)
                record.record(step)
    summary = mindinsight.open(base)
    return [summary.run(f"./{group}{number}") for number in range(len(ends))]


def test_runs_that_end_early_or_non_finite_do_not_count(tmp_path: Path) -> None:
    good = runs(tmp_path, "good", [0.1, 0.2, 0.3, 0.4, 0.5])
    bad = runs(tmp_path, "bad", [1.1, 1.2, 1.3, 1.4, 1.5, np.nan])
    early = runs(tmp_path, "early", [9.0], steps=10)
    values = end_values(good, [*bad, *early], "loss", 1)
    assert values == EndValues(pytest.approx(0.3), pytest.approx(1.3), 5, 5)  # type: ignore[arg-type]
    assert end_values(good, [*bad, *early], "loss", 100) is None  # one of a hundred scalars, by chance
    assert end_values(good, bad, "accuracy", 1) is None


def test_ends_on_both_sides_and_among_each_other_are_none(tmp_path: Path) -> None:
    good = runs(tmp_path, "good", [1.0, 1.1, 1.2, 1.3, 1.4])
    assert end_values(good, runs(tmp_path, "sided", [0.1, 0.2, 0.3, 2.1, 2.2, 2.3]), "loss", 1) is None
    assert end_values(good, runs(tmp_path, "mixed", [1.05, 1.15, 1.25, 1.35]), "loss", 1) is None


def test_the_three_largest_relative_differences_are_claimed() -> None:
    ends = [(f"t{n}", EndValues(1.0, 1.0 + n, 5, 5)) for n in range(5)]
    assert [claim.values["tag"] for claim in end_claims(ends)] == ["t4", "t3", "t2"]


def courses(base: Path, group: str, courses: list[list[float]]) -> list[Run]:
    for number, course in enumerate(courses):
        with SummaryRecord(str(base / f"{group}{number}")) as record:
            for step, value in enumerate(course):
                record.add_value("scalar", "val", value)
                record.record(10 * (step + 1))
    summary = mindinsight.open(base)
    return [summary.run(f"./{group}{number}") for number in range(len(courses))]


def test_a_scalar_of_few_steps_differs_from_a_step_up_to_the_last(tmp_path: Path) -> None:
    nan = float("nan")
    good = courses(tmp_path, "good", [[5 + n / 10, 4 + n / 10, 3 + n / 10, 2 + n / 10] for n in range(8)])
    bad = courses(tmp_path, "bad", [[5 + n / 10, 4 + n / 10, 7 + n / 10, 8 + n / 10] for n in range(8)])
    since = values_since(good, bad, "val", 1)
    assert since is not None
    assert (since.step, since.count, since.steps) == (30, 2, 4)
    assert (since.good, since.bad) == pytest.approx((2.35, 8.35))
    assert values_since(good, bad[:2], "val", 1) is None, "too few runs"
    broken = courses(tmp_path, "broken", [[5 + n / 10, 8 + n / 10, nan, nan] for n in range(8)])
    assert values_since(good, broken, "val", 1).step == 20, "up to the NaN"  # type: ignore[union-attr]
    back = courses(tmp_path, "back", [[9 + n / 10, 9 + n / 10, 9 + n / 10, 2 + n / 10] for n in range(8)])
    assert values_since(good, back, "val", 1) is None, "together at the end"


def test_runs_that_ended_before_do_not_set_the_step_and_are_counted(tmp_path: Path) -> None:
    good = courses(tmp_path, "good", [[5 + n / 10, 4 + n / 10, 3 + n / 10, 2 + n / 10] for n in range(8)])
    bad = courses(tmp_path, "bad", [[5 + n / 10, 8 + n / 10, 7 + n / 10, 8 + n / 10] for n in range(6)])
    ended = courses(tmp_path, "ended", [[5 + n / 10, 4 + n / 10, 3 + n / 10] for n in range(6)])
    since = values_since(good, [*bad, *ended], "val", 1)
    assert since is not None
    assert since.step == 20, "not 40, from which on only the others go on"
    assert (since.goods, since.good_runs, since.bads, since.bad_runs) == (8, 8, 6, 12)
    ends = common_end_values(good, [*bad, *ended], "val")
    assert ends is not None
    assert (ends.good, ends.bad, ends.goods, ends.bads) == (since.good, since.bad, 8, 6)
    shorter = common_end_values(good, ended, "val")
    assert shorter is not None
    assert (shorter.good, shorter.bad) == pytest.approx((3.35, 3.25)), "at step 30, where the ended ones end"
    assert common_end_values(good, good, "loss") is None
