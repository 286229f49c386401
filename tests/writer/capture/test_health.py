"""The record of healthy norms: what it says of weights and outputs that changed, and its file."""

import json
from pathlib import Path

from mindinsight.writer.capture.health import HealthRecord


def record() -> HealthRecord:
    health = HealthRecord()
    health.update(20, {"fc": 2.5, "act": 3.25, "gate": 0.0}, {"fc.weight": 12.0, "fc.bias": 1.0})
    return health


def test_the_weight_that_grew_most_is_named() -> None:
    assert record().grown({"fc.weight": 3.1e4, "fc.bias": 11.0}) == (
        "The weight fc.weight has norm 3.1e+04, 2.58e+03 times as much as 12 at step 20."
    )
    assert record().grown({"fc.weight": 100.0, "new": float("nan")}) == ""
    assert record().grown({"fc.weight": float("nan"), "fc.bias": 99.0}) == (
        "The norm of the weight fc.weight is nan; it was 12 at step 20."
    )
    assert HealthRecord().grown({"fc.weight": 1.0}) == ""


def test_the_file_holds_the_healthy_norms_and_those_of_now(tmp_path: Path) -> None:
    record().write(tmp_path / "rank_0", 40, {"fc.weight": 3.1e4})
    content = json.loads((tmp_path / "rank_0" / "health_40.json").read_text())
    assert (content["step"], content["healthy_step"]) == (40, 20)
    assert (content["weights"]["fc.weight"], content["weights_now"]["fc.weight"]) == (12.0, 3.1e4)
