import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.compute.slices import parse_slice
from mindinsight.server.http.responses import decode
from tests.waiting import until

EXPECTED = Path(__file__).parents[2] / "data" / "events" / "lenet" / "expected.json"
PARAMS = {"run": "./lenet", "tag": "Tensor"}


@pytest.fixture(scope="module")
def lenet(shared_samples: Any) -> Any:
    return shared_samples("lenet")


def npy(client: Any, **params: Any) -> Any:
    answer = client.get("/v2/tensor/download", params={**PARAMS, "row": 0, **params})
    assert answer.status_code == 200
    return np.load(io.BytesIO(answer.content), allow_pickle=False)


def test_steps_shape_and_type(lenet: Any) -> None:
    files = json.loads(EXPECTED.read_text())["runs"]["."]["files"].values()
    (known,) = [
        entry
        for file in files
        for entry in file.get("tags", {}).get("tensor", [])
        if entry["tag"] == "Tensor"
    ]
    answer = lenet.get("/v2/tensor/steps", params=PARAMS).json()
    assert decode(answer["step"]).tolist() == known["steps"]
    assert answer["type"] == "float32"
    assert answer["first"] == "[0,0,:,:]"
    assert list(npy(lenet).shape) == answer["shape"]


def test_a_slice_is_the_values_of_the_download(lenet: Any) -> None:
    whole = npy(lenet)
    answer = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[3,:,1,:]"}).json()
    np.testing.assert_array_equal(decode(answer["values"]).reshape(answer["window"]), whole[3, :, 1, :])
    assert (answer["rows"], answer["columns"]) == whole[3, :, 1, :].shape
    assert answer["slice"]["max"] == whole[3, :, 1, :].max()
    assert answer["whole"]["count"] == whole.size
    np.testing.assert_array_equal(npy(lenet, dims="[3,:,1,:]"), whole[3, :, 1, :])


def test_a_single_value_and_a_window(lenet: Any) -> None:
    whole = npy(lenet)
    element = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[0,0,0,1]"}).json()
    assert decode(element["values"]).tolist() == [whole[0, 0, 0, 1]]
    window = lenet.get(
        "/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[:,:,0,0]", "top": 8, "left": 5}
    ).json()
    np.testing.assert_array_equal(decode(window["values"]).reshape(window["window"]), whole[8:, 5:, 0, 0])


def test_csv_holds_the_same_values(lenet: Any) -> None:
    answer = lenet.get(
        "/v2/tensor/download", params={**PARAMS, "row": 0, "dims": "[0,:,0,:]", "format": "csv"}
    )
    np.testing.assert_array_equal(
        np.loadtxt(io.StringIO(answer.text), delimiter=",", dtype=np.float32), npy(lenet)[0, :, 0, :]
    )


def test_the_distribution_counts_every_value(lenet: Any) -> None:
    answer = lenet.get("/v2/tensor/distribution", params={**PARAMS, "bins": 20}).json()
    counts = decode(answer["counts"]).reshape(-1, 20)
    assert len(counts) == answer["count"] == len(answer["facts"])
    assert np.all(counts.sum(axis=1) == npy(lenet).size)
    for kind in ("nan", "positive_infinity", "negative_infinity"):
        assert decode(answer[kind]).tolist() == [0] * len(counts)


@pytest.mark.parametrize("dims", ["0,0", "[:,:,:,0]", "[99,0,:,:]", "[0]", "[0,0,::0,:]"])
def test_a_slice_that_cannot_be_is_told(lenet: Any, dims: str) -> None:
    answer = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": dims})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "bad_slice"


def test_tensors_of_every_type_are_shown(shared_samples: Any) -> None:
    client = shared_samples("record_api/values")
    tags = client.get("/v2/tags", params={"kind": "tensor"}).json()["tags"]
    types = set()
    for tag in tags:
        params = {"run": "./values", "tag": tag["tag"]}
        types.add(client.get("/v2/tensor/steps", params=params).json()["type"])
        assert client.get("/v2/tensor/slice", params={**params, "row": 0}).status_code == 200
        assert client.get("/v2/tensor/distribution", params=params).status_code == 200
    assert {"bool", "int8", "int64", "uint64", "float16", "float64"} <= types


@pytest.fixture
def by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tensor is read as if it had gigabytes."""
    monkeypatch.setattr("mindinsight.server.formats.payloads.tensor_payloads.WHOLE", 0)
    monkeypatch.setattr("mindinsight.server.plugins.tensor._BLOCK", 7)


@pytest.mark.parametrize("format", ["npy", "csv"])
@pytest.mark.parametrize(
    "dims", [None, "[0,:,:,0]", "[0,::2,0,::-1]", "[0,0,0,0]", "[0,0,:,1]", "[0,0,0,:0]"]
)
def test_a_download_sent_by_parts_is_that_of_the_whole(
    lenet: Any, request: pytest.FixtureRequest, dims: Any, format: str
) -> None:
    params = {**PARAMS, "row": 0, "format": format, **({"dims": dims} if dims else {})}
    whole = npy(lenet)
    request.getfixturevalue("by_parts")
    answer = lenet.get("/v2/tensor/download", params=params)
    assert answer.status_code == 200
    wanted = whole if dims is None else whole[parse_slice(dims, whole.shape)]
    if format == "npy":
        array = np.load(io.BytesIO(answer.content), allow_pickle=False)
        assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(array, wanted)
    elif wanted.size:
        rows = np.loadtxt(io.StringIO(answer.text), delimiter=",", dtype=np.float32, ndmin=2)
        np.testing.assert_array_equal(rows.ravel(), wanted.ravel())
    else:
        assert answer.text.strip() == ""


def test_answers_by_parts_are_those_of_the_whole(samples: Any, request: pytest.FixtureRequest) -> None:
    client = samples("lenet", "record_api/values")
    requests = [("/v2/tensor/slice", {**PARAMS, "row": 0, "dims": "[3,:,1,:]", "top": 2, "left": 1})]
    for tag in client.get("/v2/tags", params={"kind": "tensor", "run": "./values"}).json()["tags"]:
        params = {"run": "./values", "tag": tag["tag"]}
        requests += [("/v2/tensor/steps", params), ("/v2/tensor/slice", {**params, "row": 0})]
        requests.append(("/v2/tensor/distribution", params))
    whole = [client.get(path, params=params).json() for path, params in requests]
    request.getfixturevalue("by_parts")
    for (path, params), known in zip(requests, whole, strict=True):
        answer = client.get(path, params=params).json()
        for facts in ("slice", "whole"):  # sums in another order differ in their last digit
            if facts in known:
                assert answer.pop(facts) == pytest.approx(known.pop(facts), nan_ok=True)
        for number, known_number in zip(answer.pop("facts", []), known.pop("facts", []), strict=True):
            assert number == pytest.approx(known_number, nan_ok=True)
        assert answer == known, (path, params)


def test_a_tensor_whose_file_was_replaced_or_cut_is_gone(samples: Any, tmp_path: Path) -> None:
    client = samples("lenet")
    client.app.state.service.loader.stop()  # it has not seen yet what happens now
    (path,) = [entry for entry in (tmp_path / "base" / "lenet").iterdir() if entry.name.endswith("_MS")]
    content = path.read_bytes()
    path.write_bytes(content[:1000])
    assert client.get("/v2/tensor/slice", params={**PARAMS, "row": 0}).status_code == 410
    path.with_name("new").write_bytes(content)  # before the old one goes, whose number it could get
    path.with_name("new").rename(path)
    assert client.get("/v2/tensor/download", params={**PARAMS, "row": 0}).status_code == 410


def test_a_message_that_is_no_tensor_is_told_with_its_reason(samples: Any, tmp_path: Path) -> None:
    folder = tmp_path / "base" / "odd"
    folder.mkdir(parents=True)
    event = Event(step=1, wall_time=1.0)
    event.summary.value.add(tag="t").tensor.CopyFrom(TensorProto(dims=[3], data_type=11, float_data=[1.0]))
    (folder / "events.out.events.summary.1.0.host_MS").write_bytes(encode_record(event.SerializeToString()))
    client = samples(max_runs=1)
    until(lambda: client.get("/v2/tags", params={"kind": "tensor"}).json()["tags"])
    for path in ("steps", "slice", "distribution", "download"):
        answer = client.get(f"/v2/tensor/{path}", params={"run": "./odd", "tag": "t", "row": 0})
        assert (answer.status_code, answer.json()["error"]["key"]) == (422, "payload.shape")
        assert str(tmp_path) not in answer.text


@pytest.mark.parametrize("values", [[1e300, 1 / 3], [1e308] * 4, [-1e308, 1e308], [5e-324, 1e-300]])
def test_finite_numbers_of_any_size_are_shown(samples: Any, tmp_path: Path, values: Any) -> None:
    folder = tmp_path / "base" / "large"
    folder.mkdir(parents=True)
    event = Event(step=1, wall_time=1.0)
    value = event.summary.value.add(tag="t")
    value.tensor.CopyFrom(TensorProto(dims=[len(values)], data_type=12, double_data=values))
    name = "events.out.events.summary.1700000000.0.host_MS"
    (folder / name).write_bytes(encode_record(event.SerializeToString()))
    client = samples()
    params = {"run": "./large", "tag": "t", "row": 0}
    end = time.monotonic() + 60
    while client.get("/v2/tensor/steps", params=params).status_code != 200 and time.monotonic() < end:
        time.sleep(0.05)
    for route in ("slice", "distribution"):
        answer = client.get(f"/v2/tensor/{route}", params=params)
        assert answer.status_code == 200, answer.text
        facts = answer.json()["whole"] if route == "slice" else answer.json()["facts"][0]
        assert (facts["min"], facts["max"]) == (min(values), max(values))
    assert decode(answer.json()["counts"]).sum() == len(values)
