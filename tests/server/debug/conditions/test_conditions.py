"""Every rule on small arrays, judged as the debugger does."""

import math
from typing import Any, NoReturn

import numpy as np
import pytest

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.conditions import (
    FAILED,
    HOLDS_INF,
    HOLDS_NAN,
    NO_PREVIOUS,
    NO_VALUES,
    Limits,
    Name,
    Sample,
    Verdict,
    condition,
    conditions,
)
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.debug.watchpoints import checked_limits
from mindinsight.server.formats.dumps.dump_types import RecordedStatistics
from mindinsight.server.formats.read_limits import UnreadableError
from tests.narrowing import require
from tests.server.debug.conditions.conftest import judge

ABBREVIATIONS = {
    "weight_initialization": "WI",
    "weight_overflow": "WO",
    "weight_too_large": "WL",
    "weight_too_small": "WS",
    "weight_not_changed": "WNC",
    "weight_change_too_large": "WCL",
    "weight_change_too_small": "WCS",
    "gradient_vanishing": "GV",
    "gradient_too_large": "GL",
    "gradient_exploding": "GE",
    "tensor_overflow": "TO",
    "operator_overflow": "OO",
    "tensor_too_large": "TL",
    "tensor_too_small": "TS",
    "tensor_all_zero": "TZ",
    "tensor_change_too_large": "TCL",
    "tensor_change_too_small": "TCS",
    "tensor_not_changed": "TNC",
    "tensor_range": "TR",
    "activation_range": "AR",
}


def test_the_twenty_conditions_are_found_under_their_names() -> None:
    assert {known.id: known.abbreviation for known in conditions().values()} == ABBREVIATIONS
    for known in conditions().values():
        assert known.id.startswith("operator" if known.id == "operator_overflow" else known.target)


@pytest.mark.parametrize(
    ("condition", "values", "limits", "hit"),
    [
        ("tensor_overflow", [1.0, math.nan], {}, True),
        ("weight_overflow", [1.0, math.inf], {}, True),
        ("gradient_exploding", [1.0, -math.inf], {}, True),
        ("gradient_exploding", [1.0, 1e38], {}, False),
        ("tensor_too_large", [1.0, -3.0], {"abs_mean_gt": 1.9}, True),
        ("tensor_too_large", [1.0, -3.0], {"abs_mean_gt": 2.0}, False),
        ("weight_too_large", [1.0, -3.0], {"max_gt": 0.5}, True),
        ("gradient_too_large", [1.0, -3.0], {"min_gt": -3.5}, True),
        ("gradient_too_large", [1.0, -3.0], {"mean_gt": -1.0, "min_gt": 0}, False),
        ("tensor_too_small", [1.0, -3.0], {"abs_mean_lt": 2.1}, True),
        ("weight_too_small", [1.0, -3.0], {"max_lt": 1.0}, False),
        ("gradient_vanishing", [1e-10, -1e-10], {"abs_mean_lt": 1e-9}, True),
        ("gradient_vanishing", [1.0, -3.0], {"mean_lt": -1.0, "min_lt": -2}, True),
        ("tensor_all_zero", [0.0, 0.0], {}, True),
        ("tensor_all_zero", [0.0, 1.0], {}, False),
        ("tensor_all_zero", [0.0, 1.0], {"zero_percentage_ge": 50}, True),
        ("weight_initialization", [0.0, -0.0], {}, True),
        ("weight_initialization", [0.0, 2.0], {"max_gt": 1}, True),
        ("weight_initialization", [0.0, 2.0], {"min_lt": -1}, False),
        ("tensor_range", [1, 2, 3, 9], {"max_min_gt": 7}, True),
        ("tensor_range", [1, 2, 3, 9], {"max_min_lt": 8}, False),
        ("tensor_range", [[]], {"max_min_lt": 8}, False),
    ],
)
def test_rules_about_one_step(condition: Any, values: Any, limits: Any, hit: Any) -> None:
    verdict = judge(condition, values, **limits)
    assert (verdict.hit, verdict.error) == (hit, 0)
    assert any(finding.hit for finding in verdict.findings) == (hit and bool(limits or verdict.findings))


def test_the_device_names_the_operator_that_overflowed() -> None:
    assert judge("operator_overflow", [1.0], overflowed=True).hit
    assert not judge("operator_overflow", [math.inf]).hit


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0, 9.0], [1 + 0j, 2j, -3, 9j]])
def test_the_range_counts_what_lies_inside(values: Any) -> None:
    limits = {"range_start_inclusive": 1, "range_end_inclusive": 3, "range_percentage_gt": 74}
    verdict = judge("activation_range", values, **limits)
    assert {finding.name: finding.actual for finding in verdict.findings} == {
        "range_start_inclusive": 0,
        "range_end_inclusive": 0,
        "range_percentage_lt": 0,
        "range_percentage_gt": 75,
        "max_min_lt": 0,
        "max_min_gt": 0,
    }
    assert verdict.hit


def test_a_range_around_everything_needs_no_reading() -> None:
    values = np.array([1.0, 2.0])

    def never() -> NoReturn:
        raise AssertionError("read although the extremes tell")

    limits = checked_limits(
        "tensor_range", {"range_start_inclusive": 1, "range_end_inclusive": 2, "range_percentage_gt": 99}
    )
    assert conditions()["tensor_range"].judge(Sample(measure(values), never), limits).hit


@pytest.mark.parametrize(
    ("condition", "now", "before", "limits", "hit"),
    [
        ("weight_change_too_large", [1.0, 2.0], [1.0, 1.0], {}, True),
        ("weight_change_too_large", [1.0, 1.1], [1.0, 1.0], {}, False),
        ("weight_change_too_small", [1.0, 1.00001], [1.0, 1.0], {}, True),
        ("tensor_change_too_small", [1.0, 1.1], [1.0, 1.0], {}, False),
        ("tensor_change_too_large", [1j], [1.0], {"abs_mean_update_ratio_gt": 1.4}, True),
        ("weight_not_changed", [1.0, 1.0], [1.0, 1.0], {}, True),
        ("weight_not_changed", [1.0, 1.1], [1.0, 1.0], {}, False),
        ("tensor_not_changed", [1.0, 1.1], [1.0, 1.0], {"rtol": 0.2}, True),
        ("weight_not_changed", [1.0, 5.0], [1.0, math.inf], {}, False),
    ],
)
def test_rules_about_two_steps(condition: Any, now: Any, before: Any, limits: Any, hit: Any) -> None:
    verdict = judge(condition, now, before, **limits)
    assert (verdict.hit, verdict.error) == (hit, 0)


def test_what_cannot_be_judged_says_why() -> None:
    assert judge("tensor_too_large", [math.nan, math.inf], max_gt=0).error == HOLDS_NAN + HOLDS_INF
    assert judge("weight_not_changed", [-math.inf]).error == HOLDS_INF + NO_PREVIOUS
    assert judge("weight_not_changed", [1.0]).error == NO_PREVIOUS
    assert judge("weight_change_too_small", [1.0], [1.0, 2.0]).error == NO_PREVIOUS
    verdict = judge("weight_not_changed", [1.0], [1.0, 2.0])
    assert (verdict.hit, verdict.error) == (False, NO_PREVIOUS)


def test_what_statistics_alone_do_not_tell_is_not_judged() -> None:
    """Check that an unrecorded mean magnitude or share of zeros decides nothing."""

    def never() -> NoReturn:
        raise AssertionError("there are no values to read")

    statistics = require(infer_statistics(RecordedStatistics(max=4, min=-2, mean=1), (48,)))
    sample = Sample(statistics, never)
    for name in ("tensor_all_zero", "gradient_vanishing"):
        limits = checked_limits(name, {} if name == "tensor_all_zero" else {"abs_mean_lt": 1e-9})
        assert conditions()[name].judge(sample, limits).error == NO_VALUES
    assert (
        conditions()["tensor_too_large"].judge(sample, checked_limits("tensor_too_large", {"max_gt": 3})).hit
    )
    unknown = Sample(require(infer_statistics(RecordedStatistics(max=4), (48,))), never)
    assert conditions()["tensor_overflow"].judge(unknown, {}).error == NO_VALUES


class NoText(ValueError):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (ValueError("no"), "ValueError: no"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (NoText(), f"{__name__}.NoText: <exception str() failed>"),
        (None, "AttributeError: 'str' object has no attribute 'hit'"),
    ],
)
def test_a_rule_of_an_extension_that_fails_ends_nothing_else(problem: Exception | None, why: str) -> None:
    def rule(sample: Sample, limits: Limits) -> Any:
        if problem is not None:
            raise problem
        return "no verdict"

    (known,) = condition(Name("other.check", "OC", "tensor"))(rule)
    sample = Sample(measure(np.ones(3)), lambda: pytest.fail("it is not read"))
    assert known.judge(sample, {}) == Verdict(False, (), FAILED, why)
    (own,) = condition(Name("tensor_check", "TC", "tensor"))(rule)
    with pytest.raises((type(problem) if problem else AttributeError,)):
        own.judge(sample, {})


def test_a_file_that_cannot_be_read_is_no_fault_of_the_rule() -> None:
    def rule(sample: Sample, limits: Limits) -> Verdict:
        raise UnreadableError("dump.missing")

    (known,) = condition(Name("other.reading", "OR", "tensor"))(rule)
    with pytest.raises(UnreadableError):
        known.judge(Sample(measure(np.ones(3)), lambda: pytest.fail("it is not read")), {})
