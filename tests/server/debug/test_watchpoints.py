"""Watchpoints against recorded answers of MindInsight's engine for two dumps."""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.debug.conditions import NO_PREVIOUS
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import Watchpoint, check, checked_limits, common_faults

WATCHED = ("conv1.weight", "fc1.weight", "fc2.weight", "fc2.bias")


NUMBERS = {  # the engine's numbers of conditions
    13: "weight_overflow",
    15: "weight_too_large",
    16: "weight_too_small",
    17: "tensor_all_zero",
    18: "weight_change_too_large",
    19: "weight_change_too_small",
    20: "weight_not_changed",
    21: "tensor_range",
}


def watchpoints(results: Any) -> Iterator[Any]:
    """Return the watchpoints of the recorded answers, with their numbers. The engine never judged number
    14."""
    for number, result in enumerate(results):
        if result["condition"] in NUMBERS:
            condition = NUMBERS[result["condition"]]
            given = {
                parameter["name"]: parameter["value"]
                for parameter in result["parameters"]
                if not parameter["disabled"]
            }
            steps = (result["iteration"],)
            yield Watchpoint(number, condition, checked_limits(condition, given), WATCHED, steps=steps)


@pytest.mark.parametrize(("tree", "dump"), [("out", "lenet"), ("nan", "spoilt_weights")])
def test_the_answers_of_the_engine_come_out(
    tree: str, dump: str, data: Any, request: pytest.FixtureRequest
) -> None:
    results = json.loads((data / "ms_sync_v2_0_names" / "watchpoints_expected.json").read_text())[tree]
    points = list(watchpoints(results))
    hits = list(check(request.getfixturevalue(dump), points))
    for watchpoint in points:
        verdicts = {hit.entry.operator: hit.verdict for hit in hits if hit.watchpoint is watchpoint}
        expected = {hit["name"]: hit for hit in results[watchpoint.id]["hits"]}
        assert verdicts.keys() == expected.keys(), watchpoint
        for name, hit in expected.items():
            assert verdicts[name].error == hit["error_code"]
            assert verdicts[name].hit == (hit["error_code"] == 0)
            parameters = {finding.name: finding for finding in verdicts[name].findings}
            for parameter in hit["parameters"]:
                finding = parameters[parameter["name"]]
                assert finding.hit == parameter["hit"]
                assert finding.actual == pytest.approx(float(parameter["actual_value"]), rel=1e-6, abs=1e-18)


def test_initialization_is_judged_at_the_first_step_only(lenet: Any) -> None:
    limits = checked_limits("weight_initialization", {"min_lt": -0.01})
    hits = list(check(lenet, [Watchpoint(1, "weight_initialization", limits)]))
    assert {hit.entry.step for hit in hits} == {0}
    assert {hit.entry.operator for hit in hits} == {"conv1.weight", "fc1.weight", "fc2.weight"}


def test_operators_types_ranks_and_steps_narrow_a_watchpoint(lenet: Any) -> None:
    limits = checked_limits("tensor_too_large", {"max_gt": -1e30})

    def names(**where: Any) -> set[Any]:
        hits = check(lenet, [Watchpoint(1, "tensor_too_large", limits, **where)])
        return {hit.entry.operator for hit in hits}

    everything = names()
    assert len(everything) == 22
    assert names(types=("matmul",)) == {name for name in everything if "/MatMul-" in name}
    assert names(operators=("*/MatMul-*",)) == names(types=("matmul",))
    assert len(names(operators=("Conv2D-op51",))) == 1
    assert names(ranks=(1,)) == set()
    assert names(steps=(7,)) == set()


def test_a_pool_and_a_cache_change_nothing(
    spoilt_weights: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindinsight.server.compute.parallel_map.HERE", 0)
    cache = StatisticsCache(tmp_path / "statistics.sqlite")
    alone = [(hit.entry, hit.verdict) for hit in check(spoilt_weights, common_faults())]
    with ProcessPoolExecutor(2) as pool:
        for _ in range(2):  # the second time everything is known
            spread = check(spoilt_weights, common_faults(), pool, cache)
            assert [(hit.entry, hit.verdict) for hit in spread] == alone


def test_the_first_step_has_nothing_before_it(lenet: Any) -> None:
    watchpoint = Watchpoint(1, "weight_not_changed", checked_limits("weight_not_changed", {}))
    assert {hit.verdict.error for hit in check(lenet, [watchpoint]) if hit.entry.step == 0} == {NO_PREVIOUS}


def test_without_a_choice_the_defaults_hold() -> None:
    assert checked_limits("weight_initialization", {}) == {"zero_percentage_ge": 100}
    assert checked_limits("weight_not_changed", {}) == {"rtol": 1e-5, "atol": 1e-8, "equal_nan": 0}
    assert checked_limits("weight_change_too_small", {})["abs_mean_update_ratio_lt"] == 1e-4


def test_a_choice_switches_the_other_checks_off() -> None:
    assert checked_limits("weight_initialization", {"max_gt": 1, "min_lt": None}) == {"max_gt": 1}
    assert checked_limits("weight_not_changed", {"rtol": 0.5})["atol"] == 1e-8


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        ("tensor_upside_down", {}, "unknown condition 'tensor_upside_down'"),
        ("tensor_too_large", {}, "needs at least one of abs_mean_gt, max_gt, min_gt, mean_gt"),
        ("tensor_too_large", {"max_lt": 1}, "has no parameter 'max_lt'"),
        ("tensor_overflow", {"max_gt": 1}, "has no parameter 'max_gt'; it has none"),
        ("tensor_too_large", {"max_gt": "high"}, "max_gt must be a number, not 'high'"),
        ("tensor_too_large", {"max_gt": True}, "must be a number"),
        ("tensor_too_large", {"max_gt": float("nan")}, "must be a number"),
        ("tensor_too_large", {"abs_mean_gt": -1}, "abs_mean_gt is -1; it must be at least 0"),
        ("tensor_all_zero", {"zero_percentage_ge": 101}, "must be from 0 to 100"),
        ("tensor_range", {"max_min_lt": 0}, "must be above 0"),
        ("tensor_range", {"range_start_inclusive": 0}, "needs at least one of range_percentage_lt"),
        ("tensor_range", {"range_percentage_lt": 5, "range_end_inclusive": 1}, "needs range_start"),
    ],
)
def test_what_is_refused_is_named(condition: str, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_limits(condition, given)


def test_weights_that_stand_still_are_a_common_fault(lenet: Any, spoilt_weights: Any) -> None:
    conditions = [hit.watchpoint.condition for hit in check(lenet, common_faults()) if hit.verdict.hit]
    assert "weight_not_changed" not in conditions
    assert "tensor_overflow" not in conditions
    spoilt = [
        (hit.watchpoint.condition, hit.entry.operator, hit.entry.step)
        for hit in check(spoilt_weights, common_faults())
        if hit.verdict.hit and hit.watchpoint.condition == "weight_overflow"
    ]
    assert sorted(spoilt) == [("weight_overflow", "fc1.weight", 1), ("weight_overflow", "fc2.weight", 1)]
