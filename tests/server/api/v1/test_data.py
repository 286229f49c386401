"""Scalars, images, histograms and tensors of real runs, and what is wrong with asking for them."""

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.client.reader import open as open_base

from .conftest import Interface, serving

LENET = {"train_id": "./lenet"}
LOSS = {**LENET, "tag": "loss/auto/scalar"}
IMAGE = {**LENET, "tag": "Image/image"}
TENSOR = {"train_id": "./values", "tag": "tensor/float32/tensor"}
CALLS = {
    "scalar/metadata": "5054500E",
    "image/metadata": "5054500D",
    "histograms": "5054500F",
    "tensors": "50545012",
}


@pytest.mark.parametrize(("call", "code"), CALLS.items())
def test_faults_are_told_in_order(v1, call, code):
    path = f"datavisual/{call}"
    assert v1.fault(path) == v1.fault(path, train_id="") == (400, "50540003")
    assert v1.fault(path, train_id="./none") == v1.fault(path, **LENET) == (400, "50540003")
    assert v1.fault(path, train_id="./none", tag="x") == (400, "50545005")
    assert v1.fault(path, train_id="lenet", tag="x") == (400, "50545005")
    assert v1.fault(path, **LENET, tag="none") == (400, code)


@pytest.mark.parametrize(
    ("call", "tag", "code"),
    [
        ("scalar/metadata", "Image/image", "50540001"),
        ("scalars", "Image/image", "50540001"),
        ("image/metadata", "loss/auto/scalar", "5054500D"),
        ("histograms", "loss/auto/scalar", "5054500F"),
        ("tensors", "loss/auto/scalar", "50545012"),
    ],
)
def test_a_tag_of_another_kind(v1, call, tag, code):
    assert v1.fault(f"datavisual/{call}", **LENET, tag=tag) == (400, code)


def test_points_of_a_curve(v1):
    points = v1.ok("datavisual/scalar/metadata", **LOSS)["metadatas"]
    steps = [point["step"] for point in points]
    assert steps == sorted(set(steps))
    assert all(set(point) == {"wall_time", "step", "value"} for point in points)
    answer = v1.ok("datavisual/scalars", **LOSS)["scalars"]
    assert answer == [{**LOSS, "values": points}]


def test_pairs_that_do_not_exist_are_left_out(v1):
    query = {"train_id": ["./none", "./lenet"], "tag": ["none", "loss/auto/scalar"]}
    assert [item["train_id"] for item in v1.ok("datavisual/scalars", **query)["scalars"]] == ["./lenet"]
    assert v1.ok("datavisual/scalars") == {"scalars": []}


def test_what_is_not_finite_is_null(v1):
    tags = v1.ok("datavisual/plugins", train_id="./values")["plugins"]["scalar"]
    values = [
        point["value"]
        for tag in tags
        for point in v1.ok("datavisual/scalar/metadata", train_id="./values", tag=tag)["metadatas"]
    ]
    assert None in values


def test_a_sample_of_images_unless_all_are_asked_for(v1):
    path = "datavisual/image/metadata"
    sample, whole = v1.ok(path, **IMAGE)["metadatas"], v1.ok(path, **IMAGE, full="true")["metadatas"]
    assert len(sample) == 10 < len(whole)
    assert (sample[0], sample[-1]) == (whole[0], whole[-1])
    assert all(row in whole for row in sample)


def test_an_image_as_it_was_recorded(v1):
    path = "datavisual/image/single-image"
    newest = v1.get(path, **IMAGE, step=-1)
    facts = v1.ok("datavisual/image/metadata", **IMAGE)["metadatas"][-1]
    assert newest.headers["content-type"] == "image/png"
    assert newest.headers["x-content-type-options"] == "nosniff"
    assert newest.content[:4] == b"\x89PNG"
    assert int.from_bytes(newest.content[16:20], "big") == facts["width"]
    assert v1.get(path, **IMAGE, step=facts["step"]).content == newest.content
    assert v1.fault(path, **IMAGE) == (400, "50540003")
    assert v1.fault(path, **IMAGE, step="x") == (400, "50540001")
    assert v1.fault(path, **IMAGE, step=10**9) == (400, "5054500D")


def test_histograms_share_their_edges(v1):
    tag = v1.ok("datavisual/plugins", **LENET)["plugins"]["histogram"][0]
    answer = v1.ok("datavisual/histograms", **LENET, tag=tag)
    assert (answer["train_id"], answer["tag"]) == ("./lenet", tag)
    edges = {tuple(left for left, _, _ in histogram["buckets"]) for histogram in answer["histograms"]}
    assert len(edges) == 1
    whole = v1.ok("datavisual/histograms", **LENET, tag=tag, full="true")["histograms"]
    assert len(answer["histograms"]) == min(50, len(whole))


def tensor(v1, **query):
    return v1.ok("datavisual/tensors", **TENSOR, **query)["tensors"][0]["values"]


def test_tensors_and_their_slices(v1, base):
    plain = tensor(v1)
    assert set(plain[0]["value"]) == {"dims", "data_type"}
    assert plain[0]["value"]["data_type"] == "DT_FLOAT32"
    recorded = next(item for item in open_base(base).tensors("tensor/float32", "./values"))
    step, values = recorded.step, recorded.data.values
    assert plain[0]["value"]["dims"] == list(values.shape)
    (part,) = tensor(v1, detail="data", step=step, dims="[0, :, 1:3]")
    np.testing.assert_array_equal(part["value"]["data"], values[0, :, 1:3])
    assert part["value"]["statistics"]["count"] == values[0, :, 1:3].size
    assert part["value"]["statistics"]["overall_count"] == values.size
    (element,) = tensor(v1, detail="data", step=step, dims="[-1, 0, 0]")
    assert element["value"]["data"] == float(values[-1, 0, 0])


def test_details_of_tensors(v1):
    stats = tensor(v1, detail="stats")[0]["value"]
    assert set(stats) == {"dims", "data_type", "statistics"}
    buckets = tensor(v1, detail="histogram")
    assert len({tuple(left for left, _, _ in item["value"]["histogram_buckets"]) for item in buckets}) == 1


def test_numbers_that_are_none_are_texts(v1):
    query = {"train_id": "./values", "tag": "tensor/nan_inf/tensor"}
    (shown,) = v1.ok("datavisual/tensors", **query)["tensors"]
    first = shown["values"][0]
    dims = "[" + ",".join([":"] * len(first["value"]["dims"])) + "]"
    details = {"detail": "data", "step": first["step"], "dims": dims}
    (answer,) = v1.ok("datavisual/tensors", **query, **details)["tensors"]
    assert {"NAN", "INF", "-INF"} <= set(np.ravel(answer["values"][0]["value"]["data"]).tolist())
    assert answer["values"][0]["value"]["statistics"]["overall_nan_count"] > 0


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"detail": "other"}, "50540002"),
        ({"detail": "data"}, "50540003"),
        ({"detail": "data", "step": "x"}, "50540001"),
        ({"detail": "data", "step": 1}, "50540003"),
        ({"detail": "data", "step": 10**6, "dims": "[0]"}, "50545014"),
        ({"detail": "data", "step": 1, "dims": "0"}, "50540002"),
        ({"detail": "data", "step": 1, "dims": "[a]"}, "50540002"),
        ({"detail": "data", "step": 1, "dims": "[::0]"}, "50540002"),
        ({"detail": "data", "step": 1, "dims": "[:,:,:]"}, "50540002"),
        ({"detail": "data", "step": 1, "dims": "[99999]"}, "50540002"),
    ],
)
def test_slices_that_cannot_be_had(v1, query, code):
    assert v1.fault("datavisual/tensors", **TENSOR, **query) == (400, code)


def test_one_bad_pair_fails_the_whole_call(v1):
    query = {"train_id": "./values", "tag": ["tensor/float32/tensor", "none"]}
    assert v1.fault("datavisual/tensors", **query) == (400, "50545012")


def test_intervals_and_landscapes(v1):
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


def test_a_landscape_without_intervals_is_final_though_it_has_a_path(tmp_path):
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


def test_a_landscape_that_cannot_be_had_is_an_item(v1):
    path = "datavisual/landscape/landscapes"
    ids = ["x", "./none", "./lenet", "./landscape"]
    items = v1.ok(path, train_id=ids, interval_id="1")["landscapes"]
    assert [item["error_code"] for item in items] == ["50540002", "50545005", "50545017", "50545017"]
    assert v1.ok(path, train_id="./landscape", type="other")["landscapes"][0]["error_code"] == "50545017"
    assert v1.fault("datavisual/landscape/intervals") == (400, "50540003")
    assert v1.fault("datavisual/landscape/intervals", train_id="./none") == (400, "50545005")
