import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.responses import decode
from mindinsight.writer import SummaryRecord

EXPECTED = Path(__file__).parents[2] / "data" / "events"
TAG = "conv1.weight/auto"


def expected(sample: Any) -> Any:
    return json.loads((EXPECTED / sample / "expected.json").read_text())["runs"]


@pytest.fixture(scope="module")
def lenet(shared_samples: Any) -> Any:
    return shared_samples("lenet")


def ask(client: Any, **params: Any) -> Any:
    answer = client.get("/v2/histogram/series", params={"run": "./lenet", "tag": TAG, **params})
    assert answer.status_code == 200
    return answer.json()


def test_every_step_is_there_and_every_value_counted(lenet: Any) -> None:
    (events,) = [
        file
        for name, file in expected("lenet")["."]["files"].items()
        if name.endswith("_MS") and "histogram" in file["tags"]
    ]
    (known,) = [entry for entry in events["tags"]["histogram"] if entry["tag"] == TAG]
    answer = ask(lenet)
    steps = sorted(set(known["steps"]))
    assert (answer["count"], decode(answer["step"]).tolist()) == (len(steps), steps)
    counts = decode(answer["counts"]).reshape(len(steps), -1)
    np.testing.assert_allclose(counts.sum(axis=1), known["first"]["count"], rtol=1e-5)
    shares = decode(answer["percentile"]).reshape(len(steps), 9)
    assert shares[0, 0] == pytest.approx(known["first"]["min"])
    assert np.all(np.diff(shares, axis=1) >= 0)
    assert answer["non_finite"] == {"nan": 0, "positive_infinity": 0, "negative_infinity": 0}


def test_fewer_columns_add_up_neighbours_or_pick_steps(lenet: Any) -> None:
    whole = decode(ask(lenet)["counts"]).sum()
    few = ask(lenet, columns=4)
    assert few["shown"] == len(decode(few["step"])) == 4
    assert decode(few["counts"]).sum() == pytest.approx(whole, rel=1e-5)
    picked = ask(lenet, columns=4, each=True)
    assert decode(picked["counts"]).sum() < whole / 2


def test_a_range_of_values_is_looked_at_closer(lenet: Any) -> None:
    near = ask(lenet, low=-0.1, high=0.1, bins=10)
    np.testing.assert_allclose(decode(near["edges"]), np.linspace(-0.1, 0.1, 11))


def test_runs_beside_each_other_at_one_step(lenet: Any) -> None:
    answer = lenet.get(
        "/v2/histogram/at", params={"run": ["./lenet", "./gone"], "tag": TAG, "step": 11}
    ).json()
    (entry,) = answer["runs"]
    assert entry["step"] in (10, 12)
    assert decode(entry["counts"]).sum() == entry["count"]


def test_unknown_names_are_told(lenet: Any) -> None:
    assert lenet.get("/v2/histogram/series", params={"run": "./x", "tag": TAG}).status_code == 404
    assert lenet.get("/v2/histogram/series", params={"run": "./lenet", "tag": "x"}).status_code == 404


def test_histograms_of_every_type_are_answered(shared_samples: Any) -> None:
    client = shared_samples("record_api/values")
    tags = client.get("/v2/tags", params={"kind": "histogram"}).json()["tags"]
    assert len(tags) > 10
    non_finite = 0
    for tag in tags:
        answer = client.get("/v2/histogram/series", params={"run": "./values", "tag": tag["tag"]})
        assert answer.status_code == 200
        non_finite += sum(answer.json()["non_finite"].values())
    assert non_finite > 0


def test_without_a_finite_value_the_extremes_are_unknown(samples: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base" / "gone")) as record:
        for step, values in enumerate((np.arange(4.0), np.full(4, np.nan), np.array([np.nan, 0.0]))):
            record.add_value("histogram", "w", values.astype(np.float32))
            record.record(step)
    client = samples()

    def at(step: Any) -> list[Any]:
        params = {"run": "./gone", "tag": "w", "step": step}
        (row,) = client.get("/v2/histogram/at", params=params).json()["runs"]
        return [row[name] for name in ("min", "max", "sum")]

    assert [at(step) for step in range(3)] == [[0, 3, 6], [None] * 3, [0, 0, 0]]


def test_steps_that_a_restart_recorded_again_are_counted_once(samples: Any, tmp_path: Path) -> None:
    for number, steps in enumerate((range(6), range(3, 5))):
        with SummaryRecord(str(tmp_path / "base" / "again"), file_suffix=f"_{number}") as record:
            for step in steps:
                record.add_value("histogram", "w", np.full(8, float(number), np.float32))
                record.record(step)
    answer = samples().get("/v2/histogram/series", params={"run": "./again", "tag": "w"}).json()
    assert decode(answer["step"]).tolist() == [0, 1, 2, 3, 4]
    assert decode(answer["percentile"]).reshape(5, 9)[:, 4] == pytest.approx([0, 0, 0, 1, 1])
