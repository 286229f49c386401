"""End of a training. `tests/claims` tests when each sentence is made."""

import time
from dataclasses import replace
from pathlib import Path

import mindinsight
from mindinsight.server.api.run_end import end_claims
from mindinsight.server.report import ReportSource
from mindinsight.writer import SummaryRecord


def test_a_file_whose_format_records_no_end_leaves_the_end_open(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    run = replace(mindinsight.open(tmp_path).run("./run"), finished=False)
    other = replace(run, files=tuple(replace(file, name="events.out.tfevents.1.host") for file in run.files))
    verdicts = []
    for source in (ReportSource(own, {own.id: own}, Path) for own in (run, other)):
        (claim,) = end_claims(source, time.time() + 600)
        assert (claim.key, claim.values["n"]) == ("claim.explain.quiet", 10)
        verdicts.append(claim.verdict)
    assert verdicts == ["unknown", "note"]
