"""Tensors of a dump: rows, values, comparison with the previous step."""

import io
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.server.v1.conftest import DATA, Interface, code_of, serving
from tests.server.v1.debugger.conftest import CONV, RELU, SESSIONS, WEIGHT, go, recorded, watch


def test_tensors_of_a_node(dumps: Any, session: Any) -> None:
    nothing = dumps.sent(f"{session}/tensor-history", {"name": RELU})
    assert {row["tensor_status"] for row in nothing["tensor_history"]} == {"empty"}
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    rows = dumps.sent(f"{session}/tensor-history", {"name": RELU})["tensor_history"]
    assert [(row["name"], row["type"]) for row in rows] == [(f"{RELU}:0", "output"), (f"{CONV}:0", "input")]
    assert rows[0]["dtype"] == "DT_FLOAT32"
    assert rows[0]["bytes"] == int(np.prod(rows[0]["shape"])) * 4
    assert (rows[0]["tensor_status"], rows[0]["has_prev_step"], rows[0]["step"]) == ("cached", True, 2)


def test_values_of_a_tensor(dumps: Any, session: Any) -> None:
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    values = recorded("Parameter.conv1.weight", 1)[:, 0]
    query = {"name": f"{WEIGHT}:0", "shape": "[0, 0, :, :]"}
    answer = dumps.ok(f"{session}/tensors", **query)["tensor_value"]
    assert answer["value"] == recorded("Parameter.conv1.weight", 1)[0, 0].tolist()
    assert answer["statistics"]["overall_count"] == recorded("Parameter.conv1.weight", 1).size
    assert answer["statistics"]["count"] == values[0].size
    before = dumps.ok(f"{session}/tensors", **query, prev="true")["tensor_value"]
    assert before["value"] == recorded("Parameter.conv1.weight", 0)[0, 0].tolist()
    assert (before["step"], before["has_prev_step"]) == (1, False)
    whole = dumps.ok(f"{session}/tensors", name=f"{WEIGHT}:0")["tensor_value"]
    assert np.shape(whole["value"]) == recorded("Parameter.conv1.weight", 1).shape


def test_values_that_cannot_be_had(dumps: Any, session: Any) -> None:
    path = f"{session}/tensors"
    assert dumps.fault(path) == (400, "50540003")
    assert dumps.fault(path, name=WEIGHT) == (400, "5054B081")
    assert dumps.fault(path, name=f"{WEIGHT}:0", detail="stats") == (400, "5054B081")
    assert dumps.fault(path, name="no:0", graph_name="Net_0") == (400, "5054B100")
    assert dumps.fault(path, name="Default:0") == (400, "5054B081")
    assert dumps.ok(path, name=f"{WEIGHT}:0")["tensor_value"]["tensor_status"] == "empty"
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    assert dumps.fault(path, name=f"{WEIGHT}:0", shape="[0]") == (400, "50540002")
    assert dumps.fault(path, name=f"{WEIGHT}:0", shape="[0, 0, ::0, :]") == (400, "50540002")


def test_a_parameter_beside_the_step_before(dumps: Any, session: Any) -> None:
    path, name = f"{session}/tensor-comparisons", f"{WEIGHT}:0"
    assert dumps.fault(path, name=name) == (400, "5054B081")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    answer = dumps.ok(path, name=name, shape="[0, 0, 0, :]")["tensor_value"]
    before, now = (recorded("Parameter.conv1.weight", step)[0, 0, 0].astype(float) for step in (0, 1))
    np.testing.assert_array_equal(answer["diff"], np.stack([before, now, now - before], axis=-1))
    within = dumps.ok(path, name=name, shape="[0, 0, 0, :]", tolerance=1)["tensor_value"]["diff"]
    assert [row[2] for row in within] == [0.0] * len(before)
    assert dumps.fault(path, name=name, tolerance="x") == (400, "50540001")
    assert dumps.fault(path, name=name, tolerance=2) == (400, "5054B081")
    assert dumps.fault(path, name=f"{RELU}:0") == (400, "5054B081")


def test_the_neighbourhood_of_a_tensor(dumps: Any, session: Any) -> None:
    path = f"{session}/tensor-graphs"
    assert dumps.fault(path, tensor_name=f"{RELU}:0") == (400, "5054B187")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    nodes = dumps.ok(path, tensor_name=f"{RELU}:0")["graph"]["nodes"]
    assert [node["name"] for node in nodes[:2]] == [RELU, CONV]
    assert len(nodes) > 2
    values = recorded("ReLU.ReLU-op52", 0)
    assert nodes[0]["slots"][0]["statistics"]["max"] == pytest.approx(float(values.max()))
    assert nodes[0]["input"][CONV]["slot_mapping"] == [["0", ""]]


def test_slots_of_a_neighbourhood_carry_their_hits(dumps: Any, session: Any) -> None:
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)], watch_nodes=[RELU])
    go(dumps, session, mode="continue", level="step", steps=1)
    nodes = dumps.ok(f"{session}/tensor-graphs", tensor_name=f"{RELU}:0")["graph"]["nodes"]
    slots = {node["name"]: node["slots"][0] for node in nodes}
    assert [watchpoint["id"] for watchpoint in slots[RELU]["watch_points"]] == [1]
    assert "watch_points" not in slots[CONV]


def test_a_tensor_as_a_file(dumps: Any, session: Any) -> None:
    load, download = f"{session}/tensor-files/load", f"{session}/tensor-files/download"
    assert dumps.fault(download) == (400, "5054B284")
    assert code_of(dumps.post(load, {"name": f"{WEIGHT}:0"})) == (400, "5054B081")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    dumps.sent(load, {"name": f"{WEIGHT}:0", "prev": "true"})
    answer = dumps.get(download)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="conv1.weight_0.npy"'
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), recorded("Parameter.conv1.weight", 0))
    assert dumps.fault(download) == (400, "5054B284")


def test_a_large_tensor_is_not_held_in_memory(tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
    (file,) = (base / "job" / "dump" / "rank_0" / "Net" / "0" / "0").glob("Parameter.conv1.weight.*.npy")
    file.unlink()
    np.lib.format.open_memmap(file, "w+", np.float32, (64, 1 << 20)).flush()  # 256 MB of zeros, sparse
    with serving(base, tmp_path / "workspace") as client:
        v1 = Interface(client)
        number = v1.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/dump"})
        session = f"{SESSIONS}/{number}"
        v1.sent(f"{session}/control", {"mode": "reset", "steps": 1})
        tracemalloc.start()
        try:
            v1.sent(f"{session}/tensor-files/load", {"name": f"{WEIGHT}:0"})
            assert tracemalloc.get_traced_memory()[1] < 128 << 20
        finally:
            tracemalloc.stop()
