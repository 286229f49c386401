"""Settings that repeat a result of the run."""

from pathlib import Path

import mindinsight
from mindinsight.server.api.recorded_results import repeated_results, result_claims
from mindinsight.writer import SummaryRecord


def repeated(base: Path, tag: str, settings: list[float], objective: str = "") -> dict[str, str]:
    """Write runs whose scalar falls to 1, 2, 3 … and ask which settings repeat it."""
    for number in range(len(settings)):
        with SummaryRecord(str(base / f"run{number}")) as record:
            for step, value in enumerate((9.0, 8.0, 1.0 + number)):
                record.add_value("scalar", tag, value)
                record.record(step)
    summary = mindinsight.open(base)
    runs = [summary.run(f"./run{number}") for number in range(len(settings))]
    return repeated_results(runs, {"user:final": settings}, objective)


def test_a_setting_that_is_the_last_value_of_a_loss_is_a_result(tmp_path: Path) -> None:
    results = repeated(tmp_path, "loss", [1.0, 2.0, 3.0002, 4.0, 5.0])
    assert results == {"user:final": "loss"}
    (claim,) = result_claims(results)
    assert claim.evidence == ({"setting": "user:final", "tag": "loss"},)


def test_few_values_and_values_that_only_come_near_are_no_results(tmp_path: Path) -> None:
    assert repeated(tmp_path / "a", "loss", [1.0, 2.0, 3.0, 4.0]) == {}
    assert repeated(tmp_path / "b", "loss", [1.0, 2.0, 3.1, 4.0, 5.0]) == {}
    assert list(result_claims({})) == []


def test_a_rate_that_a_run_records_as_a_scalar_is_no_result_but_as_the_objective(
    tmp_path: Path,
) -> None:
    rates = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert repeated(tmp_path / "a", "lr", rates) == {}
    assert repeated(tmp_path / "b", "lr", rates, "lr") == {"user:final": "lr"}
