"""A restarted run has one line, and everything that reads it counts the same points."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.client import reader
from mindinsight.server.commands import main
from mindinsight.server.http.responses import decode
from mindinsight.writer import SummaryRecord

RUNS = ("./job/rank_0", "./job/rank_1")
STEPS = [*range(84), *range(70, 75)]  # the second file begins at 70, and has not come far
LINE = list(range(75))
VALUES = [step / 8 for step in range(70)] + [100 + step / 8 for step in range(70, 75)]


@pytest.fixture
def base(tmp_path: Path) -> Any:
    for run in RUNS:
        for number, steps in enumerate((STEPS[:84], STEPS[84:])):
            with SummaryRecord(str(tmp_path / "base" / run), file_suffix=f"_{number}") as record:
                for step in steps:
                    record.add_value("scalar", "loss", 100 * number + step / 8)
                    record.record(step)
    return tmp_path / "base"


def printed(capsys: Any, *command: Any) -> Any:
    assert main.main([*map(str, command)]) == 0
    return capsys.readouterr().out


def test_the_reader_and_the_commands_have_the_merged_line(
    base: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scalars = reader.open(base).scalars("loss")
    for key in scalars:
        assert scalars[key].steps.tolist() == LINE
        assert scalars[key].values.tolist() == VALUES
        assert scalars.recorded()[key].steps.tolist() == STEPS
    assert scalars.frame()["value"].tolist() == 2 * VALUES
    text = printed(capsys, "get", RUNS[0], "loss", "--summary-dir", base)
    assert [float(row["value"]) for row in csv.DictReader(io.StringIO(text))] == VALUES
    printed(capsys, "export", "--summary-dir", base, "--output", tmp_path / "out", "--kind", "scalar")
    with (tmp_path / "out" / RUNS[0] / "scalars.csv").open() as file:
        assert [float(row["value"]) for row in csv.DictReader(file)] == VALUES
    (listed, _) = json.loads(printed(capsys, "ls", "--summary-dir", base, "--json"))
    assert listed["scalars"]["loss"] == {"count": 75, "step": 74, "value": VALUES[-1]}


def test_every_route_has_the_merged_line(base: Any, samples: Any) -> None:
    client = samples()
    scalar, both = "/v2/scalar", {"tag": "loss", "run": RUNS}
    for curve in client.get(f"{scalar}/series", params={**both, "px": 0}).json()["series"]:
        assert decode(curve["step"]).tolist() == LINE
        assert decode(curve["value"]).tolist() == VALUES
        assert (curve["points"], curve["overwritten_points"]) == (75, 14)
    rows = client.get(f"{scalar}/statistics", params=both).json()["rows"]
    assert [(row["count"], row["first_step"], row["last"]) for row in rows] == 2 * [(75, 0, VALUES[-1])]
    text = client.get(f"{scalar}/download", params=both).text
    assert [float(row["value"]) for row in csv.DictReader(io.StringIO(text))] == 2 * VALUES
    (row,) = client.get(f"{scalar}/compare", params={**both, "baseline": RUNS[0]}).json()["series"]
    assert row["shared"] == 75
    for route in ("band", "ranks"):
        columns = client.get(f"{scalar}/{route}", params={"tag": "loss", "job": "./job"}).json()
        assert decode(columns["step"]).tolist() == LINE
        assert decode(columns["mean"]).tolist() == (VALUES if route == "band" else 2 * VALUES)
    old = {"train_id": RUNS[0], "tag": "loss/scalar"}
    points = client.get("/v1/mindinsight/datavisual/scalar/metadata", params=old).json()["metadatas"]
    assert [point["value"] for point in points] == VALUES
    table = client.get("/v2/runs/columns", params={"tag": "loss"}).json()["tables"]["loss"]
    assert [decode(table[name]).tolist()[0] for name in ("last", "min", "max")] == [VALUES[-1], 0, VALUES[-1]]
