import json
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
from tests.narrowing import require


def test_what_a_dump_says_of_itself(samples: Any) -> None:
    dump = open_dump(samples / "ms_sync_cpu_2ranks")
    assert (dump.framework, dump.version, dump.device, dump.task) == ("mindspore", "2.10.0", "CPU", "tensor")
    assert dump.ranks == (0, 1)
    assert dump.rank_names == ((0, "rank_0"), (1, "rank_1"))  # rank_1 has no metadata
    assert dump.steps() == dump.steps(1) == (0, 1)
    assert dump.graphs() == dump.graphs(1, 1) == ("TinyNet/0",)
    assert '"iteration": "0|1"' in dump.config


def test_full_names_come_back(samples: Any) -> None:
    dump = open_dump(samples / "ms_sync_cpu_2ranks")
    entries = list_tensors(dump, 1, 0)
    names = {entry.operator for entry in entries if entry.type == "Parameter"}
    assert {"conv.weight", "moments.block.dense.bias", "inputs0", "global_step"} <= names
    others = [entry for entry in entries if entry.type != "Parameter"]
    assert all("/" in entry.operator and entry.order >= 0 for entry in others)
    renamed = {
        (entry.recorded.rpartition("_")[2], entry.operator.rpartition("/")[2])
        for entry in others
        if entry.recorded.rpartition("-")[2] != entry.operator.rpartition("-")[2]
    }
    assert ("TopK-op0", "TopK-op1") in renamed
    assert len(renamed) >= 5  # nine operators, some of the same last name


def test_names_without_scope_come_back(samples: Any) -> None:
    entries = list_tensors(open_dump(samples / "ms_sync_v2_0_names"), 0, 0)
    conv = next(entry for entry in entries if entry.recorded == "Conv2D-op51")
    assert conv.operator == "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/Conv2D-op51"


def test_constants_come_first_and_are_told_apart(samples: Any) -> None:
    entries = list_tensors(open_dump(samples / "ms_sync_v2_0_names"), 0, 1)
    assert [entry.direction for entry in entries[:5]] == ["constant"] * 5
    assert sorted(entry.operator for entry in entries[:5]) == [f"data-{n}" for n in range(1, 6)]
    assert all(entry.direction != "constant" for entry in entries[5:])


def test_entries_come_in_the_order_of_time(samples: Any) -> None:
    for name in ("ms_sync_cpu_2ranks", "ms_sync_full_stats/full"):
        times = [entry.timestamp for entry in list_tensors(open_dump(samples / name), 0, 0)]
        assert times == sorted(times)


def test_operators_have_sources_and_source_lines(samples: Any) -> None:
    operators = {
        operator.name: operator
        for operator in list_operators(open_dump(samples / "ms_sync_cpu_2ranks"), 0, 0)
    }
    conv = operators["Default/network-WithLossCell/_backbone-TinyNet/conv-Conv2d/Conv2D-op0"]
    assert conv.sources == ("inputs0", "conv.weight")
    assert conv.scope == ("Default", "network-WithLossCell", "_backbone-TinyNet", "conv-Conv2d")
    assert (conv.inputs[:2], conv.outputs) == (("0", "1"), ("0",))
    assert require(own_frame(conv.stack)).line == 24
    assert "self.conv(x)" in require(own_frame(conv.stack)).code
    weight = operators["conv.weight"]
    assert (weight.type, weight.scope, weight.order) == ("Parameter", ("conv",), -1)
    assert sum(bool(operator.stack) for operator in operators.values()) >= 50


def test_operators_that_were_planned_only_are_listed_too(samples: Any) -> None:
    operators = list_operators(open_dump(samples / "ms_sync_kernels_filter"), 0, 1)
    planned = [operator for operator in operators if operator.sequence < 0]
    assert len(planned) > 30
    assert all(
        operator.inputs == operator.outputs == () and operator.stack is not None for operator in planned
    )
    assert any(operator.type == "Conv2D" for operator in planned)


def test_statistics_beside_tensors_and_alone(samples: Any) -> None:
    full = list_tensors(open_dump(samples / "ms_sync_full_stats/full"), 0, 0)
    alone = list_tensors(open_dump(samples / "ms_sync_full_stats/statistic"), 0, 0)
    assert len(full) == len(alone) == 241
    for entry, other in zip(full, alone, strict=True):
        assert (entry.recorded, entry.slot, entry.timestamp) == (other.recorded, other.slot, other.timestamp)
        assert entry.shape == other.shape == describe_tensor(require(entry.ref)).shape
        assert other.ref is None
        assert require(entry.statistics).max == require(other.statistics).max
        array = read_tensor(require(entry.ref))
        assert require(entry.statistics).count == array.size
        assert require(entry.statistics).max == pytest.approx(float(array.max()), rel=1e-5)


def test_one_rank_or_one_step_alone(samples: Any) -> None:
    rank = open_dump(samples / "ms_sync_cpu_2ranks" / "rank_1")
    assert (rank.rank_names, rank.steps()) == (((1, "rank_1"),), (0, 1))
    assert len(list_tensors(rank, 1, 0)) == 241
    step = open_dump(samples / "ms_sync_cpu_2ranks" / "rank_1" / "TinyNet" / "0" / "1")
    assert step.steps() == (0,)
    assert len(list_tensors(step, 0, 0)) == 241


def test_a_window_of_a_tensor(samples: Any) -> None:
    entries = list_tensors(open_dump(samples / "ms_sync_cpu_2ranks"), 0, 0)
    entry = next(entry for entry in entries if entry.recorded == "fc1_weight")
    whole = read_tensor(require(entry.ref))
    np.testing.assert_array_equal(read_tensor(require(entry.ref), (slice(1, 3), 0)), whole[1:3, 0])


def test_a_dump_that_grows_is_listed_again(dump: Any) -> None:
    dump.add("Add", "first")
    opened = open_dump(dump.root)
    assert len(list_tensors(opened, 0, 0)) == 1
    dump.add("Add", "second")
    assert [entry.operator for entry in list_tensors(opened, 0, 0)] == ["first", "second"]
    (dump.step.parent / "1").mkdir()
    assert open_dump(dump.root).steps() == (0, 1)


def test_links_do_not_lead_out(dump: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "secret.npy", np.zeros(3))
    _, full = dump.add("Add", "op")
    (dump.step / full.replace(".op.", ".link.")).symlink_to(tmp_path / "secret.npy")
    (dump.step.parent / "7").symlink_to(tmp_path)
    assert [entry.operator for entry in dump.list()] == ["op"]
    assert open_dump(dump.root).steps() == (0,)


def test_bad_companions_leave_the_tensors(dump: Any) -> None:
    dump.add("Add", "Default_Add-op1")
    rank = dump.root / "rank_0"
    for folder in (".dump_metadata", "graphs", "execution_order"):
        (rank / folder).mkdir()
    (rank / ".dump_metadata" / "config.json").write_text('{"ms_version": "2')
    (rank / "graphs" / "ms_output_trace_code_graph_0.pb").write_bytes(b"\xff" * 20)
    (rank / "execution_order" / "ms_execution_order_graph_0.csv").write_bytes(b"\xff\xfe\n\nDefault/Add-op1")
    (dump.step / "statistic.csv").write_text("Op Type,Op Name\nAdd,Default_Add-op1\n")
    opened = open_dump(dump.root)
    assert [fault.reason for fault in opened.damage] == ["dump.json"]
    entries = list_tensors(opened, 0, 0)
    assert [fault.reason for fault in entries.damage] == ["dump.csv_columns", "dump.bad_graph"]
    assert entries[0].operator == "Default/Add-op1"
    assert len(list_operators(opened, 0, 0)) == 2


def test_arguments_of_kernels(dump: Any) -> None:
    dump.add("Add", "Default_Add-op1")
    dump.add("Add", "Default_Add-op2")
    (dump.step / "Add.Default_Add-op1.json").write_text('{"axis": "1", "keep": "true"}')
    (dump.step / "Add.Default_Add-op2.json").write_text('{"axis": ')
    listing = list_operators(open_dump(dump.root), 0, 0)
    assert [operator.arguments for operator in listing] == [(("axis", "1"), ("keep", "true")), ()]
    assert [fault.reason for fault in listing.damage] == ["dump.json"]


def test_graphs_of_several_are_one_listing(dump: Any) -> None:
    dump.add("Add", "first")
    other = dump.root / "rank_0" / "Net" / "1" / "0"
    shutil.copytree(dump.step, other)
    dump.add("Add", "second")
    opened = open_dump(dump.root)
    entries = list_tensors(opened, 0, 0)
    assert [(entry.graph, entry.operator) for entry in entries] == [
        *(("Net/0", "first"), ("Net/1", "first")),
        ("Net/0", "second"),
    ]
    assert [entry.sequence for entry in entries] == [0, 1, 2]
    assert len(list_tensors(opened, 0, 0, "Net/1")) == 1
    assert len(list_operators(opened, 0, 0)) == 3


def test_there_is_no_overflow_record(samples: Any) -> None:
    assert not list_overflows(open_dump(samples / "ms_sync_kernels_filter"), 0, 1)


def test_folders_that_only_look_like_it(tmp_path: Path) -> None:
    for name in ("rank_0/checkpoints/0", "rank_1", "logs/rank_0"):
        (tmp_path / name).mkdir(parents=True)
    assert find_layout(tmp_path) is None
    assert find_layout(tmp_path / "rank_0") is None
    assert find_layout(tmp_path / "nothing") is None


def test_what_the_recorder_did_not_see_is_read_and_nonsense_left_out(dump: Any) -> None:
    dump.add("Conv2D", "Default_Conv2D-op0")
    metadata = dump.root / "rank_0" / ".dump_metadata"
    metadata.mkdir()
    file = metadata / "not_recorded.json"
    entries = [
        {"kind": "backward", "names": ["Conv2D", 3]},
        {"kind": "limit", "count": 7, "iterations": [5, "x"]},
    ]
    file.write_text(json.dumps([*entries, {"kind": 1}, 5, {"kind": "new", "names": None, "count": "many"}]))
    backward, limit, new = open_dump(dump.root).not_recorded
    assert (backward.rank, backward.kind, backward.names, backward.steps) == (0, "backward", ("Conv2D",), ())
    assert (limit.count, limit.steps) == (7, (5,))
    assert (new.kind, new.names, new.count) == ("new", (), 0)
    file.write_text("[{")
    damaged = open_dump(dump.root)
    assert damaged.not_recorded == () and damaged.damage[0].reason == "dump.json"
