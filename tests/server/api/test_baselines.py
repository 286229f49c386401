"""Earlier runs that are known to be without a fault. `tests/claims` tests the sentences about them."""

from dataclasses import replace
from pathlib import Path

import mindinsight
from mindinsight.server.api.baselines import is_baseline, is_without_fault, runs_before
from mindinsight.writer import SummaryRecord
from tests.flight import unpack


def test_a_run_that_is_still_read_is_not_known_to_be_healthy(tmp_path: Path) -> None:
    unpack("dead_relu", tmp_path)
    assert not is_without_fault(mindinsight.open(tmp_path).run("./dead_relu"))  # it has a warning
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    run = mindinsight.open(tmp_path).run("./run")
    assert is_without_fault(run)
    assert not is_without_fault(replace(run, total=run.read + 1))
    assert not is_without_fault(replace(run, files=(replace(run.files[0], failure="KeyError"),)))
    later = replace(run, id="./later", job="./later", first_event=run.first_event + 9)
    assert runs_before(later, [run, later]) == [run]
    assert runs_before(run, [run, later]) == []
    assert not is_baseline(run, later, [run, later])  # it has one value
