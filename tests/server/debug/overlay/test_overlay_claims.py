"""Claims about what the boxes of an overlay cannot show, beside those of the situations."""

from typing import Any

import pytest

from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.overlay.overlay_claims import broken_before, outside_claims
from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Operator
from tests.server.debug.conftest import spoil


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["Default/mean-op0"], {"forward": 1}),
        (["Gradients/Default/mean-op0", "Default/optimizer-Adam/add-op0"], {"later": 2}),
        (["Default/mean-op0", "Gradients/Default/mean-op0"], {"forward": 1, "later": 1}),
    ],
)
def test_operators_outside_are_counted_by_pass(names: list[str], parts: dict[str, int]) -> None:
    (claim,) = outside_claims([Operator(name, name, "", (), "", 0, -1) for name in names])
    counted = {part.key.rpartition(".")[2]: part.values["n"] for part in claim.values["parts"]}
    assert (claim.values["n"], counted) == (len(names), parts)


@pytest.mark.parametrize(
    ("file", "broken"),
    [("Conv2D.Conv2D-op51.*.input.1.*", ["conv1.weight"]), ("ReLU.ReLU-op52.*.input.0.*", [])],
    ids=["weight", "output of another operator"],
)
def test_a_parameter_is_broken_before_if_an_operator_received_it_so(
    copied: Any, file: str, broken: list[str]
) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", file, float("inf"))
    dump = open_dump(path)
    results: list[TensorResult] = list(measure_all(list_tensors(dump, 0, 1).items))
    assert broken_before(list_operators(dump, 0, 1).items, results) == broken
