"""Tensors of a dump: rows, values, comparison with the previous step."""

from typing import Any

import numpy as np

from tests.server.api.v1.debugger.conftest import CONV, RELU, WEIGHT, recorded


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
