"""Parameters that all routes of data have, and the order in which errors are reported."""

from typing import Any

import pytest

LENET = {"train_id": "./lenet"}
CALLS = {
    "scalar/metadata": "5054500E",
    "image/metadata": "5054500D",
    "histograms": "5054500F",
    "tensors": "50545012",
}


@pytest.mark.parametrize(("call", "code"), CALLS.items())
def test_faults_are_told_in_order(v1: Any, call: Any, code: Any) -> None:
    path = f"datavisual/{call}"
    assert v1.fault(path) == v1.fault(path, train_id="") == (400, "50540003")
    assert v1.fault(path, train_id="./none") == v1.fault(path, **LENET) == (400, "50540003")
    assert v1.fault(path, train_id="./none", tag="x") == (400, "50545005")
    assert v1.fault(path, train_id="lenet", tag="x") == (400, "50545005")
    assert v1.fault(path, **LENET, tag="none") == (400, code)
