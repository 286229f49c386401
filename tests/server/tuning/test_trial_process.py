"""Targets in the runs of a trial, and the looks of its pruner."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.store.series import Line
from mindinsight.server.tuning.trial_process import (
    Missing,
    due_reports,
    report_spacing,
    target_value,
    trailing_mean,
)
from mindinsight.server.tuning.tuning_file import Target


def line(values: Any, steps: Any = None) -> Line:
    steps = np.arange(1, len(values) + 1) if steps is None else np.array(steps)
    return Line(steps, steps.astype(float), np.array(values))


def run(scalars: Any = None, lineage: Any = None) -> Any:
    series = {
        tag: SimpleNamespace(line=lambda values=values: line(values))
        for tag, values in (scalars or {}).items()
    }
    return SimpleNamespace(scalars=series, lineage=lineage)


LINEAGE = Lineage(
    TrainLineage(loss=0.5), EvaluationLineage({"loss": 0.7, "acc": 0.9, "odd": "NaN", "text": "a"})
)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("value", "scalar"), 4.0),
        (Target("value", "scalar", value="best"), 1.0),
        (Target("value", "scalar", "maximize", "best"), 4.0),
        (Target("value", "scalar", smooth=2), 3.0),
        (Target("value", "scalar", "minimize", "best", 2), 1.5),
        (Target("loss", "system_defined"), 0.5),
        (Target("loss", "metric"), 0.7),
        (Target("acc", "metric"), 0.9),
    ],
)
def test_the_value_of_a_target(target: Any, expected: float) -> None:
    assert target_value({"./": run({"value": [3.0, 1.0, 2.0, 4.0]}, LINEAGE)}, target) == expected


def test_a_best_value_looks_past_what_is_not_finite() -> None:
    runs = {"./": run({"value": [math.inf, 2.0, math.nan]})}
    assert target_value(runs, Target("value", "scalar", value="best")) == 2.0
    assert math.isnan(target_value(runs, Target("value", "scalar")))  # type: ignore[arg-type]
    assert math.isnan(
        target_value({"./": run({"value": [math.nan]})}, Target("value", "scalar", value="best"))  # type: ignore[arg-type]
    )
    assert math.isnan(target_value({"./": run({}, LINEAGE)}, Target("odd", "metric")))  # type: ignore[arg-type]


def test_a_target_that_is_missing_names_what_is_there() -> None:
    runs = {"./a": run({"x": [1.0]}), "./b": run({"y": [1.0]}, LINEAGE)}
    assert target_value(runs, Target("z", "scalar")) == Missing("z", ("x", "y"))
    assert target_value(runs, Target("z", "metric")) == Missing("z", ("acc", "loss", "odd"))
    assert target_value({}, Target("z", "scalar")) == Missing("z", ())


def test_of_several_ranks_the_first_has_it() -> None:
    runs = {"./rank_1": run({"value": [1.0]}), "./rank_0": run({"value": [2.0]})}
    assert target_value(runs, Target("value", "scalar")) == 2.0


def test_the_mean_of_fewer_points_at_the_beginning() -> None:
    assert trailing_mean(np.array([1.0, 3.0, 5.0]), 2).tolist() == [1.0, 2.0, 4.0]


def test_looks_are_at_steps_that_all_trials_have() -> None:
    values = list(due_reports(line([1.0, 2.0, 3.0], steps=[3, 7, 12]), 5, 0))
    assert values == [(5, 1.0), (10, 2.0)]
    assert list(due_reports(line([1.0, 2.0, 3.0], steps=[3, 7, 12]), 5, 5)) == [(10, 2.0)]
    assert list(due_reports(line([], steps=[]), 5, 0)) == []
    assert list(due_reports(line([1.0], steps=[40]), 10, 0)) == [(40, 1.0)]


@pytest.mark.parametrize(("last", "every"), [(1, 1), (50, 1), (100, 2), (1000, 20), (1200, 50), (12345, 500)])
def test_the_first_trial_says_how_many_steps_apart(last: int, every: int) -> None:
    assert report_spacing(last) == every
