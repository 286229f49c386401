"""Precision-recall curves of several runs at a step, and their areas."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from mindinsight.server.formats.payloads.chart_payloads import pr_curve
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.responses import decode
from mindinsight.writer import SummaryRecord
from tests.server.plugins.media import LABELS, PREDICTIONS, client_of, write


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("curves")
    write(folder / "base")
    with SummaryRecord(str(folder / "base" / "pair")) as record:
        record.add_value("pr_curve", "cats", (LABELS, PREDICTIONS), step=7)
    with SummaryRecord(str(folder / "base" / "bare")) as record:
        record.add_value("pr_curve", "cats", [[0], [0], [0], [0], [0.5], [1]], step=0)
    with client_of(folder / "base", folder / "workspace") as client:
        yield client


def test_both_formats_have_the_same_curve_at_the_nearest_step(client: TestClient) -> None:
    query: dict[str, Any] = {"run": ["./ours", "./theirs", "./torch"], "tag": "cats", "step": 4}
    ours, theirs = client.get("/v2/pr_curve/at", params=query).json()["runs"]
    assert (ours["run"], ours["step"], theirs["step"]) == ("./ours", 5, 5)
    for name in ("threshold", "true_positives", "false_negatives", "precision", "recall"):
        assert decode(ours[name]).tolist() == decode(theirs[name]).tolist()
    assert decode(ours["threshold"]).tolist() == pytest.approx(np.arange(11) / 10)
    assert decode(ours["true_positives"]).tolist() == [2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0]
    assert decode(ours["false_positives"]).tolist() == [2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert ours["drawn"] == 9
    assert ours["average_precision"] == pytest.approx((2 / 3 + 1) / 2)
    assert decode(ours["true_positive_rate"])[:6].tolist() == [1, 1, 1, 1, 1, 0.5]
    assert decode(ours["false_positive_rate"])[:6].tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5]
    assert (ours["roc_area"], ours["no_roc"]) == (0.75, None)


def test_the_area_by_step(client: TestClient) -> None:
    answer = client.get("/v2/pr_curve/area", params={"run": "./theirs", "tag": "cats"}).json()
    assert decode(answer["step"]).tolist() == [0, 5]
    assert decode(answer["value"]).tolist() == pytest.approx([5 / 6, 5 / 6])
    assert decode(answer["roc"]).tolist() == [0.75, 0.75]
    steps = client.get("/v2/pr_curve/steps", params={"run": "./pair", "tag": "cats"}).json()["step"]
    assert decode(steps).tolist() == [7]


def test_counts_that_are_missing_leave_the_roc_curve_unknown(client: TestClient) -> None:
    query: dict[str, Any] = {"run": "./bare", "tag": "cats"}
    (curve,) = client.get("/v2/pr_curve/at", params={**query, "step": 0}).json()["runs"]
    assert (curve["roc_area"], curve["no_roc"]["verdict"]) == (None, "unknown")
    assert decode(curve["true_positive_rate"]).tolist() == []
    assert np.isnan(decode(client.get("/v2/pr_curve/area", params=query).json()["roc"]))


def test_a_curve_that_cannot_be_read_is_told_and_hides_no_other(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = iter([True, False])

    def fail_once(payload: bytes) -> object:
        if next(broken):
            raise UnreadableError("payload.shape", "x")
        return pr_curve(payload)

    monkeypatch.setattr("mindinsight.server.plugins.pr_curve.pr_curve", fail_once)
    query: dict[str, Any] = {"run": ["./ours", "./theirs"], "tag": "cats", "step": 0}
    first, second = client.get("/v2/pr_curve/at", params=query).json()["runs"]
    assert (first["problem"], second["problem"]) == ("payload.shape", None)


def test_unknown_tags_are_told(client: TestClient) -> None:
    assert client.get("/v2/pr_curve/area", params={"run": "./ours", "tag": "x"}).status_code == 404
