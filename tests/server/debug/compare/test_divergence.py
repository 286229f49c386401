"""The first divergence of two dumps."""

from typing import Any

from mindinsight.server.debug.compare.comparison import Side, compare
from mindinsight.server.debug.compare.divergence import Tolerance, first_divergence
from mindinsight.server.formats.dumps import open_dump
from tests.narrowing import require
from tests.server.debug.conftest import DUMPS, spoil


def test_a_perturbed_operator_is_found(copied: Any) -> None:
    healthy = open_dump(DUMPS / "ms_sync_v2_0_names")
    path = copied("ms_sync_v2_0_names")
    step = path / "rank_0" / "Net" / "0" / "0"
    for pattern in ("MatMul.MatMul-op59.*.output.0.*", "ReluGrad.ReluGrad-op63.*.input.0.*"):
        spoil(step, pattern, 1.5)
    rows = list(compare(Side(open_dump(path), 0, 0).entries(), Side(healthy, 0, 0).entries()))
    divergence = require(first_divergence(rows, Tolerance()))
    assert divergence.kind == "made"
    assert [require(row.compared.pair.target).recorded for row in divergence.rows] == ["MatMul-op59"]
    assert [row.codes for row in divergence.rows] == [("cosine",)]


def test_a_perturbed_weight_is_named_as_the_cause(copied: Any) -> None:
    healthy = open_dump(DUMPS / "ms_sync_v2_0_names")
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "0", "Conv2D.*.input.1.*", 1.5)
    spoil(path / "rank_0" / "Net" / "0" / "0", "Conv2D.*.output.0.*", 1.5)
    rows = compare(Side(open_dump(path), 0, 0).entries(), Side(healthy, 0, 0).entries())
    divergence = require(first_divergence(rows, Tolerance()))
    assert (divergence.kind, require(divergence.rows[0].compared.pair.target).slot) == ("arrived", "1")


def test_a_dump_agrees_with_itself() -> None:
    entries = Side(open_dump(DUMPS / "ms_sync_v2_0_names"), 0, 1).entries()
    rows = list(compare(entries, entries))
    assert first_divergence(rows, Tolerance()) is None
    assert {row.level for row in rows} == {"pass"}
