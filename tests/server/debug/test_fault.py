"""The first fault, in real dumps into which numbers were broken."""

from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.debug.fault import faults, first_fault, operator_of
from mindinsight.server.formats.call_stacks import own_frame
from mindinsight.server.formats.dumps import list_tensors, open_dump
from tests.server.debug.conftest import spoil


@pytest.fixture
def broken(copied):
    """A dump in which values of chosen files of a step are not finite."""
    path = copied("ms_sync_v2_0_names")

    def spoil_files(step, *patterns, value=np.nan):
        for pattern in patterns:
            spoil(path / "rank_0" / "Net" / "0" / str(step), pattern, value)
        return open_dump(path)

    return spoil_files


def test_a_healthy_dump_has_none(lenet):
    assert list(faults(lenet)) == []


def test_the_operator_that_makes_it_is_guilty_not_those_that_pass_it_on(broken):
    maker, passer = "MatMulBiasAddReluFusion", "MatMulBiasAddFusion"
    dump = broken(0, f"{maker}.*.output.0.*", f"{passer}.*.input.0.*", f"{passer}.*.output.0.*")
    (fault,) = faults(dump)
    assert (fault.kind, fault.rank, fault.step) == ("made", 0, 0)
    assert fault.entry.recorded == "MatMulBiasAddReluFusion-op55"
    assert (fault.entry.direction, fault.entry.slot) == ("output", "0")
    frame = own_frame(operator_of(dump, fault.entry).stack)
    assert (frame.line, frame.code) == (13, "x = self.relu(self.fc1(x))")


def test_the_earliest_step_comes_first(broken):
    broken(1, "Conv2D.*.output.0.*")
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*", value=-np.inf)
    assert [(fault.step, fault.entry.type) for fault in faults(dump)] == [(0, "MatMul"), (1, "Conv2D")]
    assert [fault.step for fault in faults(dump, steps=[1])] == [1]
    assert list(faults(dump, ranks=[3])) == []


def test_a_broken_weight_arrives_and_no_operator_is_blamed(broken):
    dump = broken(0, "Conv2D.*.input.1.*", "Conv2D.*.output.0.*", value=np.inf)
    (fault,) = faults(dump)
    assert fault.kind == "arrived"
    assert (fault.entry.type, fault.entry.direction, fault.entry.slot) == ("Conv2D", "input", "1")


def test_a_mask_of_infinities_does_not_hide_the_operator_that_fails_later(broken):
    broken(0, "Conv2D.*.input.1.*", value=-np.inf)
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*")
    (fault,) = faults(dump)
    assert (fault.kind, fault.entry.type) == ("made", "MatMul")


def test_a_file_that_cannot_be_read_does_not_stop_the_search(broken):
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*")
    entries = list_tensors(dump, 0, 0).items
    Path(entries[0].ref.path).write_bytes(b"")
    assert first_fault(entries).entry.type == "MatMul"
