"""Tags of one kind in requests for another."""

from typing import Any

import pytest

LENET = {"train_id": "./lenet"}


@pytest.mark.parametrize(
    ("call", "tag", "code"),
    [
        ("scalar/metadata", "Image/image", "50540001"),
        ("scalars", "Image/image", "50540001"),
        ("image/metadata", "loss/auto/scalar", "5054500D"),
        ("histograms", "loss/auto/scalar", "5054500F"),
        ("tensors", "loss/auto/scalar", "50545012"),
    ],
)
def test_a_tag_of_another_kind(v1: Any, call: str, tag: str, code: str) -> None:
    assert v1.fault(f"datavisual/{call}", **LENET, tag=tag) == (400, code)
