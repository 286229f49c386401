import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import (
    describe_tensor,
    find_layout,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.graphs.call_stacks import own_frame
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from tests.narrowing import require
from tests.server.formats.dumps.layouts.conftest import leaf, listed


def test_ranks_and_processes(samples: Any, tmp_path: Path) -> None:
    dump = open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks")
    assert dump.rank_names == ((0, "rank0"), (1, "rank1"))
    assert '"mix"' in dump.config
    for name in ("rank", "rank3", "proc200", "proc31", "rank_9", "notes"):
        (tmp_path / "step0" / name).mkdir(parents=True)
        (tmp_path / "step0" / name / "dump.json").write_text("{}")
    assert open_dump(tmp_path).rank_names == ((0, "rank"), (3, "rank3"), (4, "proc31"), (5, "proc200"))


def test_one_step_or_one_rank_alone(samples: Any) -> None:
    root = samples / "msprobe_pytorch/mix_tensor_2ranks"
    assert open_dump(root / "step1").steps() == (1,)
    dump = open_dump(root / "step1" / "rank1")
    assert (dump.rank_names, dump.steps()) == (((1, "rank1"),), (1,))
    assert len(list_tensors(dump, 1, 1)) == len(list_tensors(open_dump(root), 1, 1))


def test_directions_and_slots(samples: Any) -> None:
    entries = list_tensors(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)
    results = {(e.operator, e.direction, e.slot) for e in entries}
    assert ("Functional.linear.0.forward", "input", "2") in results
    assert ("Module.fc1.Linear.forward.0", "parameter", "weight") in results
    assert ("Module.fc1.Linear.parameters_grad.0", "output", "weight") in results
    assert ("Functional.linear.1.backward", "output", "2") in results
    weight = next(e for e in entries if e.slot == "weight")
    assert weight.requires_grad is True
    assert require(weight.statistics).l2norm == pytest.approx(
        np.linalg.norm(read_tensor(require(weight.ref))), rel=1e-4
    )


@pytest.mark.parametrize(
    ("name", "kind", "digits"),
    [
        ("msprobe_pytorch/mix_statistics_md5", "crc32", 8),
        ("msprobe_mindspore/L1_statistics_md5", "crc32", 8),
        ("msprobe_pytorch/L1_statistics_xor", "xor64", 18),
    ],
)
def test_checksums_of_every_kind(samples: Any, name: str, kind: str, digits: int) -> None:
    listed = list_tensors(open_dump(samples / name), 0, 0)
    entries = [entry for entry in listed if entry.statistics]
    numbers = [entry for entry in entries if require(entry.statistics).checksum_kind == "value"]
    assert {entry.shape for entry in numbers} == ({()} if kind == "xor64" else set())
    entries = [entry for entry in entries if entry not in numbers]
    assert len(entries) >= len(listed) - 8
    assert {require(entry.statistics).checksum_kind for entry in entries} == {kind}
    assert {len(require(entry.statistics).checksum) for entry in entries} == {digits}
    assert all((require(entry.statistics).max is None) == (kind == "xor64") for entry in entries)


def test_calls_have_modules_arguments_and_source_lines(samples: Any) -> None:
    operators = {
        operator.name: operator
        for operator in list_operators(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)
    }
    linear = operators["Functional.linear.0.forward"]
    assert linear.type == "linear"
    assert linear.scope == ("Module.fc1.Linear.forward.0",)
    assert require(own_frame(linear.stack)).line == 15
    assert "self.fc1(x)" in require(own_frame(linear.stack)).code
    assert operators["Functional.linear.0.backward"].stack == linear.stack
    assert operators["Tensor.add_.0.forward"].arguments == (("input.alpha", "-0.1"),)
    gradient = operators["Module.fc1.Linear.parameters_grad.0"]
    assert (gradient.type, gradient.outputs) == ("Linear", ("bias", "weight"))
    assert "optimizer" not in operators


def test_structure_alone_lists_calls(samples: Any) -> None:
    dump = open_dump(samples / "msprobe_pytorch/mix_structure_statistics")
    operators = list_operators(dump, 0, 0)
    assert len(operators) > 10
    assert all(operator.sequence == -1 for operator in operators)
    assert not list_tensors(dump, 0, 0)


def test_no_overflow_records(samples: Any) -> None:
    assert not list_overflows(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)


def test_a_file_of_several_tensors(made: Any) -> None:
    folder = made({"Torch.a.0.forward": {"output": [leaf(data_name="many.pt")]}})
    weights = Path(__file__).parents[4] / "data" / "weights"
    shutil.copy(weights / "state.pt", folder / "dump_tensor_data" / "many.pt")
    (entry,) = listed(folder)
    for ask in (read_tensor, describe_tensor):
        with pytest.raises(UnreadableError, match=r"dump.not_one_tensor: 8 tensors"):
            ask(entry.ref)


def test_files_that_cannot_be_read(root: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.formats.text_files.JSON", Limits("JSON", 10, 10))
    entries = list_tensors(open_dump(root), 0, 0)
    assert [fault.reason for fault in entries.damage] == ["dump.too_large"]
    assert len(entries) > 40  # by the names of their files
    (root / "config.json").unlink()
    assert open_dump(root).config == ""
    (root / "config.json").symlink_to(root / "step0" / "rank0" / "dump.json")
    assert [fault.reason for fault in open_dump(root).damage] == ["dump.link"]


def test_steps_without_ranks(tmp_path: Path) -> None:
    (tmp_path / "step0" / "checkpoints").mkdir(parents=True)
    (tmp_path / "step1" / "rank0").mkdir(parents=True)
    assert find_layout(tmp_path) is None
