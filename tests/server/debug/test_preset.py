"""Preset watchpoints for common faults."""

from typing import Any

from mindinsight.server.debug.preset import common_faults
from mindinsight.server.debug.watchpoints import check


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
