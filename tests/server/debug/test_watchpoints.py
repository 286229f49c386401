"""Watchpoints against the answers of the original's engine, recorded for two dumps."""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.debug.conditions import NO_PREVIOUS
from mindinsight.server.debug.limits import checked_limits
from mindinsight.server.debug.preset import common_faults
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import Watchpoint, check

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
    """Those the engine was asked about, numbered as its answers are. Number 14 it never judged."""
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
