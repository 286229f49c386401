"""Dumps without a server: real ones, read, measured, searched for a fault and compared."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindinsight
from tests.server.debug.conftest import spoil

DATA = Path(__file__).parents[2] / "data" / "dumps"
LENET = DATA / "ms_sync_v2_0_names"
RANKS = DATA / "msprobe_pytorch" / "mix_tensor_2ranks"
STATISTICS = DATA / "msprobe_pytorch" / "L1_statistics_statistics"


@pytest.fixture
def lenet() -> Any:
    return mindinsight.dump(LENET)


@pytest.fixture
def broken(tmp_path: Path) -> Any:
    """The dump with NaN in the output of a convolution of step 1."""
    path = shutil.copytree(LENET, tmp_path / "dump", symlinks=True)
    spoil(path / "rank_0" / "Net" / "0" / "1", "Conv2D.*.output.0.*", np.nan)
    return mindinsight.dump(path)


def test_steps_ranks_and_operators(lenet: Any) -> None:
    assert (lenet.ranks, lenet.steps) == ((0,), (0, 1))
    operators = lenet.operators(step=1)
    assert operators[0].name.endswith("conv1-Conv2d/Conv2D-op51")
    assert "ranks (0,), steps (0, 1)" in repr(lenet)
    assert mindinsight.dump(RANKS).ranks == (0, 1)


def test_a_tensor_by_operator_slot_and_direction(lenet: Any) -> None:
    (file,) = (LENET / "rank_0" / "Net" / "0" / "1").glob("Conv2D.*.input.1.*")
    weight = lenet.tensor("Conv2D-op51", step=1, slot=1, direction="input")
    np.testing.assert_array_equal(weight, np.load(file))
    assert lenet.tensor("*/Conv2D-op51").shape[0] == lenet.tensor("Conv2D-op51", slot="0").shape[0]


def test_what_is_not_there_is_named(lenet: Any) -> None:
    with pytest.raises(KeyError, match="no operator 'Nothing'"):
        lenet.tensor("Nothing")
    with pytest.raises(KeyError, match="no output 7; it has input 0, input 1, output 0"):
        lenet.tensor("Conv2D-op51", slot=7)
    with pytest.raises(KeyError, match="no step 9; rank 0 has 0, 1"):
        lenet.tensors(step=9)
    with pytest.raises(KeyError, match="no rank 3; the dump has 0"):
        lenet.operators(rank=3)
    with pytest.raises(ValueError, match="name of several operators"):
        lenet.tensor("*")


def test_a_directory_of_dumps_names_them() -> None:
    with pytest.raises(ValueError, match=r"not a dump of a known layout; .* below it: .*ms_sync"):
        mindinsight.dump(DATA)


def test_statistics_are_those_of_the_values(lenet: Any) -> None:
    table = lenet.statistics(step=0, operator="Conv2D-op51")
    frame = table.frame()
    output = frame[(frame.direction == "output") & (frame.slot == "0")].iloc[0]
    values = lenet.tensor("Conv2D-op51", step=0).astype(np.float64)
    assert output["count"] == values.size
    assert output["shape"] == values.shape
    assert output["computed"]
    assert (output["minimum"], output["maximum"]) == (values.min(), values.max())
    assert output["mean"] == pytest.approx(values.mean())
    assert output["norm"] == pytest.approx(np.linalg.norm(values))
    assert len(lenet.statistics()) == 198


def test_recorded_statistics_are_said_to_be_that() -> None:
    dump = mindinsight.dump(STATISTICS)
    frame = dump.statistics(step=0).frame()
    assert not frame["computed"].any()
    assert frame["maximum"].notna().any()
    name = frame["operator"].iloc[0]
    entry = dump.tensors(operator=name)[0]
    with pytest.raises(ValueError, match="only statistics"):
        dump.tensor(entry.recorded, slot=entry.slot, direction=entry.direction)


def test_the_first_fault_is_told_with_its_line(broken: Any) -> None:
    report = broken.first_fault()
    assert report
    fault = report.fault
    assert (fault.rank, fault.step, fault.kind) == (0, 1, "made")
    assert fault.tensor.recorded == "Conv2D-op51"
    assert fault.operator.name in fault.verdict
    assert fault.source.code == "x = self.pool(self.relu(self.conv1(x)))"
    assert str(report).startswith("Rank 0, step 1: ")
    assert str(report).endswith(f"({fault.source.file}:{fault.source.line})")


def test_a_healthy_dump_says_how_much_was_judged(lenet: Any) -> None:
    report = lenet.first_fault()
    assert not report
    assert (report.tensors, report.judged) == (198, 198)
    assert str(report).startswith("All 198 recorded tensors that were searched are finite. Searched: NaN")
    assert not lenet.first_fault(step=0)


def test_a_comparison_finds_where_two_dumps_part(lenet: Any, broken: Any) -> None:
    same = lenet.compare(lenet, step=1)
    assert str(same) == f"All {len(same)} compared tensors hold equal values on both sides."
    assert len(same) == len(same.frame()) > 0
    parted = broken.compare(lenet, step=1)
    assert parted.claims[0].key == "claim.dump.introduced"
    assert parted.outcome().first[0].compared.pair.target.recorded == "Conv2D-op51"
    frame = parted.frame()
    assert frame[frame["lost"] > 0]["target"].tolist()[0].endswith("Conv2D-op51.output.0")


def test_steps_written_later_are_found_after_refresh(tmp_path: Path) -> None:
    path = shutil.copytree(LENET, tmp_path / "dump", symlinks=True)
    later = path / "rank_0" / "Net" / "0" / "1"
    later.rename(tmp_path / "later")
    dump = mindinsight.dump(path)
    assert dump.steps == (0,)
    (tmp_path / "later").rename(later)
    dump.refresh()
    assert dump.steps == (0, 1)
