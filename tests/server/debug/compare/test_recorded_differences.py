"""Recorded statistics that differ: by how much, and what is rounding."""

from pathlib import Path

import numpy as np

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.debug.compare.recorded_differences import recorded_differences_claim
from mindinsight.server.formats.dumps import open_dump
from tests.claims.situations.dump_compare import Net, array, changed, net, single, write


def claims_of(folder: Path, target: Net, reference: Net, values: bool = False) -> list[Claim]:
    ours, theirs = (
        Side(open_dump(write(folder / name, calls, values=values)), 0, 0)
        for name, calls in (("target", target), ("reference", reference))
    )
    return list(recorded_differences_claim(list(compare_sides(ours, theirs))))


def test_the_weight_is_named_first_with_all_its_statistics(tmp_path: Path) -> None:
    weight = array(8, 8, seed=2)
    (claim,) = claims_of(tmp_path, net(weight=changed(weight, (3, 4), 0.003)), net())
    first = claim.values["first"]
    assert first.values["name"] == "b.weight"
    assert {part.values["statistic"].key.rpartition(".")[2] for part in first.values["statistics"]} == {
        "norm",
        "mean",
    }
    assert claim.values["n"] < claim.values["all"] == 8
    shares = [part.values["statistics"][0].values["amount"] for part in claim.values["names"][:2]]
    assert shares == sorted(shares, reverse=True)


def test_a_tensor_of_several_operators_is_named_once(tmp_path: Path) -> None:
    (claim,) = claims_of(tmp_path, single(changed(array(64), 3, 0.003)), single(array(64)))
    assert claim.values["n"] == 2
    assert len(claim.values["names"]) == 1
    assert "instead of" in sentence(claim)


def test_rounding_and_measured_values_are_left_out(tmp_path: Path) -> None:
    assert claims_of(tmp_path / "a", single(array(64) * np.float32(1 + 2e-7)), single(array(64))) == []
    assert (
        claims_of(tmp_path / "b", single(changed(array(64), 3, 0.003)), single(array(64)), values=True) == []
    )
    half = array(64, dtype=np.float16)
    assert claims_of(tmp_path / "c", single(half * np.float16(1.0005)), single(half)) == []
