"""Steps that take longer, by the names of scalars. Rises are in tests/claims/situations/explain.py."""

from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.api.faults.late_rises import slow_steps
from mindinsight.writer import SummaryRecord


@pytest.mark.parametrize(
    ("tag", "values", "factor"),
    [
        ("step_time", (0.1, 0.25), 2.5),
        ("perf/iterations_per_second", (10.0, 4.0), 2.5),
        ("time/step", (0.1, 0.3), 3.0),
        ("throughput", (1000.0, 900.0), None),
        ("memory", (10.0, 40.0), None),
    ],
)
def test_slower_steps_are_noted(
    tag: str, values: tuple[float, float], factor: float | None, tmp_path: Path
) -> None:
    noise = np.exp(0.02 * np.random.default_rng(0).standard_normal(200))
    with SummaryRecord(str(tmp_path / "run")) as record:
        for step in range(200):
            record.add_value("scalar", tag, values[step >= 120] * noise[step])
            record.record(step)
    claims = list(slow_steps(mindinsight.open(tmp_path).run("./run")))
    assert [claim.values["factor"] for claim in claims] == ([factor] if factor else [])
    assert [abs(claim.values["step"] - 120) <= 2 for claim in claims] == [True] * len(claims)
    assert {claim.verdict for claim in claims} <= {"note"}
