"""First fault in real dumps with planted non-finite values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.claims import Claim
from mindinsight.server.debug.fault import (
    faulty_operator,
    report_of,
    search_faults,
)
from mindinsight.server.debug.operator_links import gives_all_the_same, gives_each_its_part, is_collective
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.graphs.call_stacks import own_frame
from tests.narrowing import require
from tests.server.debug.conftest import spoil
from tests.server.debug.planting import write_msprobe


@pytest.fixture
def broken(copied: Any) -> Callable[..., Any]:
    """Return a dump with non-finite values in chosen files of a step."""
    path = copied("ms_sync_v2_0_names")

    def spoil_files(step: Any, *patterns: Any, value: Any = np.nan) -> Any:
        for pattern in patterns:
            spoil(path / "rank_0" / "Net" / "0" / str(step), pattern, value)
        return open_dump(path)

    return spoil_files


def faults(dump: Any, **options: Any) -> Any:
    return report_of(search_faults(dump, **options, every=True)).faults


def test_a_healthy_dump_has_none_and_all_of_it_was_judged(lenet: Any) -> None:
    report = report_of(search_faults(lenet))
    assert report.faults == []
    assert (report.coverage.tensors, report.coverage.judged) == (198, 198)
    assert report.claims == (Claim("claim.fault.none", "clear", {"n": 198}),)


def test_the_operator_that_makes_it_is_guilty_not_those_that_pass_it_on(broken: Callable[..., Any]) -> None:
    maker, passer = "MatMulBiasAddReluFusion", "MatMulBiasAddFusion"
    dump = broken(0, f"{maker}.*.output.0.*", f"{passer}.*.input.0.*", f"{passer}.*.output.0.*")
    (fault,) = faults(dump)
    assert (fault.kind, fault.rank, fault.step) == ("made", 0, 0)
    assert fault.entry.recorded == "MatMulBiasAddReluFusion-op55"
    assert (fault.entry.direction, fault.entry.slot) == ("output", "0")
    frame = require(own_frame(require(faulty_operator(fault)).stack))
    assert (frame.line, frame.code) == (13, "x = self.relu(self.fc1(x))")


def test_the_earliest_step_comes_first(broken: Callable[..., Any]) -> None:
    broken(1, "Conv2D.*.output.0.*")
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*", value=-np.inf)
    assert [(fault.step, fault.entry.type) for fault in faults(dump)] == [(0, "MatMul"), (1, "Conv2D")]
    assert [fault.step for fault in faults(dump, steps=[1])] == [1]
    assert faults(dump, ranks=[3]) == []


def test_a_broken_weight_arrives_and_no_operator_is_blamed(broken: Callable[..., Any]) -> None:
    dump = broken(0, "Conv2D.*.input.1.*", "Conv2D.*.output.0.*", value=np.inf)
    (fault,) = faults(dump)
    assert (fault.kind, fault.claim.key) == ("met", "claim.fault.met.weight")
    assert fault.claim.values["source"] == "conv1.weight"
    assert (fault.entry.type, fault.entry.direction, fault.entry.slot) == ("Conv2D", "input", "1")


def test_a_mask_of_infinities_does_not_hide_the_operator_that_fails_later(broken: Callable[..., Any]) -> None:
    broken(0, "Conv2D.*.input.1.*", value=-np.inf)
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*")
    (fault,) = faults(dump)
    assert (fault.kind, fault.entry.type) == ("made", "MatMul")


def test_a_file_that_cannot_be_read_does_not_stop_the_search(broken: Callable[..., Any]) -> None:
    dump = broken(0, "MatMul.MatMul-op66.*.output.0.*")
    Path(require(list_tensors(dump, 0, 0).items[0].ref).path).write_bytes(b"")
    report = report_of(search_faults(dump))
    assert report.faults[0].entry.type == "MatMul"
    assert report.coverage.unread == 1


def test_what_was_not_looked_at_is_counted(tmp_path: Path) -> None:
    """Check that only judged tensors count as finite: some files are missing, some never had numbers."""
    dump = write_msprobe(tmp_path, "L1", values=True)
    rank = tmp_path / "step0" / "rank0"
    content = json.loads((rank / "dump.json").read_text())
    shapes = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3]}
    content["data"]["Torch.log.0.forward"]["output"] = [shapes, shapes]
    (rank / "dump.json").write_text(json.dumps(content))
    broken = content["data"]["Functional.relu.0.forward"]["output"][0]
    (rank / "dump_tensor_data" / broken["data_name"]).write_bytes(b"x")
    (rank / "dump.json").write_text(json.dumps(content))
    report = report_of(search_faults(dump))
    assert report.faults == []
    assert (report.coverage.unread, report.coverage.silent) == (1, 2)
    assert [claim.key for claim in report.claims] == [
        "claim.fault.some",
        "claim.fault.unread",
        "claim.fault.silent",
    ]
    assert [Path(damage.path).name for damage in report.damage] == [broken["data_name"]]


def test_nothing_is_no_all_clear(tmp_path: Path) -> None:
    dump = write_msprobe(tmp_path, "L1")
    (tmp_path / "step0" / "rank0" / "dump.json").write_text('{"task": "structure", "data": {}}')
    assert report_of(search_faults(dump)).claims == (Claim("claim.fault.empty", "unknown"),)
    (tmp_path / "step0" / "rank0" / "dump.json").write_text('{"data": {"Torch.log.0.forward": {"outp')
    report = report_of(search_faults(dump))
    assert (report.coverage.judged, len(report.damage)) == (0, 1)


def test_every_verdict_has_a_sentence_that_names_what_it_is_about() -> None:
    """Check the whole sentence, because a terminal has no badges."""
    locales = Path(__file__).parents[3] / "web" / "mindinsight" / "web" / "locales"
    for language in ("en", "zh"):
        texts = json.loads((locales / language / "claim_fault.json").read_text(encoding="utf-8"))
        verdicts = ("claim.fault.made", "claim.fault.met.", "claim.fault.unknown.")
        for key in (key for key in texts if key.startswith(verdicts)):
            assert "{operator}" in texts[key] or "{source}" in texts[key], (language, key)


@pytest.mark.parametrize("name", ["allreduce_", "AllReduce", "c10d::allgather_", "_allgather_base_"])
def test_these_give_all_ranks_the_same(name: str) -> None:
    assert gives_all_the_same(name)


@pytest.mark.parametrize("name", ["reduce_scatter_", "ReduceScatter", "AlltoAll", "recv_"])
def test_these_give_each_rank_something_else(name: str) -> None:
    assert is_collective(name)
    assert gives_each_its_part(name)
    assert not gives_all_the_same(name)


@pytest.mark.parametrize("name", ["ReduceMean", "div_", "sum", "", "Gather", "BroadcastTo"])
def test_these_are_none(name: str) -> None:
    assert not is_collective(name)
    assert not gives_all_the_same(name)
