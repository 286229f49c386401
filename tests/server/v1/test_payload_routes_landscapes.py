"""Loss landscapes of real runs."""

from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.summary_pb2 import Event
from tests.server.v1.conftest import Interface, serving


def test_intervals_and_landscapes(v1: Any) -> None:
    run = {"train_id": "./landscape"}
    intervals = v1.ok("datavisual/landscape/intervals", **run)["intervals"]
    assert [landscape["value"] for landscape in intervals] == [[1, 5], [6, 12]]
    path = "datavisual/landscape/landscapes"
    (landscape,) = v1.ok(path, **run, interval_id=intervals[1]["id"])["landscapes"]
    assert landscape["path"]["intervals"] == [6, 8, 10, 12]
    assert np.shape(landscape["points"]["z"]) == (
        len(landscape["points"]["y"]),
        len(landscape["points"]["x"]),
    )
    assert landscape["metadata"]["decomposition"] == "PCA"
    assert "path" not in v1.ok(path, **run, type="final")["landscapes"][0]


def test_a_landscape_without_intervals_is_final_though_it_has_a_path(tmp_path: Path) -> None:
    event = Event(wall_time=1.0, step=1)
    value = event.summary.value.add(tag="landscape")
    value.loss_landscape.landscape.z.MergeFrom(TensorProto(dims=[1], data_type=11, float_data=[0.5]))
    value.loss_landscape.loss_path.points.SetInParent()
    value.loss_landscape.metadata.decomposition = "PCA"
    run = tmp_path / "base" / "run"
    run.mkdir(parents=True)
    (run / "a.summary.1700000000").write_bytes(encode_record(event.SerializeToString()))
    with serving(tmp_path / "base", tmp_path / "workspace") as client:
        v1 = Interface(client)
        (item,) = v1.ok("datavisual/landscape/landscapes", train_id="./run", type="final")["landscapes"]
        assert item["metadata"]["decomposition"] == "PCA"
        assert "path" not in item
        assert v1.ok("datavisual/landscape/intervals", train_id="./run") == {"intervals": []}


def test_a_landscape_that_cannot_be_had_is_an_item(v1: Any) -> None:
    path = "datavisual/landscape/landscapes"
    ids = ["x", "./none", "./lenet", "./landscape"]
    items = v1.ok(path, train_id=ids, interval_id="1")["landscapes"]
    assert [item["error_code"] for item in items] == ["50540002", "50545005", "50545017", "50545017"]
    assert v1.ok(path, train_id="./landscape", type="other")["landscapes"][0]["error_code"] == "50545017"
    assert v1.fault("datavisual/landscape/intervals") == (400, "50540003")
    assert v1.fault("datavisual/landscape/intervals", train_id="./none") == (400, "50545005")
