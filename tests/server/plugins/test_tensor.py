import io
import json
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.columns import decode

EXPECTED = Path(__file__).parents[2] / "data" / "events" / "lenet" / "expected.json"
PARAMS = {"run": "./lenet", "tag": "Tensor"}


@pytest.fixture
def lenet(samples):
    return samples("lenet")


def npy(client, **params):
    answer = client.get("/v2/tensor/download", params={**PARAMS, "row": 0, **params})
    assert answer.status_code == 200
    return np.load(io.BytesIO(answer.content), allow_pickle=False)


def test_steps_shape_and_type(lenet):
    files = json.loads(EXPECTED.read_text())["runs"]["."]["files"].values()
    (known,) = [
        one for file in files for one in file.get("tags", {}).get("tensor", []) if one["tag"] == "Tensor"
    ]
    answer = lenet.get("/v2/tensor/steps", params=PARAMS).json()
    assert decode(answer["step"]).tolist() == known["steps"]
    assert answer["type"] == "float32"
    assert answer["first"] == "[0,0,:,:]"
    assert list(npy(lenet).shape) == answer["shape"]


def test_a_slice_is_the_values_of_the_download(lenet):
    whole = npy(lenet)
    answer = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[3,:,1,:]"}).json()
    np.testing.assert_array_equal(decode(answer["values"]).reshape(answer["window"]), whole[3, :, 1, :])
    assert (answer["rows"], answer["columns"]) == whole[3, :, 1, :].shape
    assert answer["slice"]["max"] == whole[3, :, 1, :].max()
    assert answer["whole"]["count"] == whole.size
    np.testing.assert_array_equal(npy(lenet, dims="[3,:,1,:]"), whole[3, :, 1, :])


def test_a_single_value_and_a_window(lenet):
    whole = npy(lenet)
    one = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[0,0,0,1]"}).json()
    assert decode(one["values"]).tolist() == [whole[0, 0, 0, 1]]
    window = lenet.get(
        "/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": "[:,:,0,0]", "top": 8, "left": 5}
    ).json()
    np.testing.assert_array_equal(decode(window["values"]).reshape(window["window"]), whole[8:, 5:, 0, 0])


def test_csv_holds_the_same_values(lenet):
    answer = lenet.get(
        "/v2/tensor/download", params={**PARAMS, "row": 0, "dims": "[0,:,0,:]", "format": "csv"}
    )
    np.testing.assert_array_equal(
        np.loadtxt(io.StringIO(answer.text), delimiter=",", dtype=np.float32), npy(lenet)[0, :, 0, :]
    )


def test_the_distribution_counts_every_value(lenet):
    answer = lenet.get("/v2/tensor/distribution", params={**PARAMS, "bins": 20}).json()
    counts = decode(answer["counts"]).reshape(-1, 20)
    assert len(counts) == answer["count"] == len(answer["facts"])
    assert np.all(counts.sum(axis=1) == npy(lenet).size)


@pytest.mark.parametrize("dims", ["0,0", "[:,:,:,0]", "[99,0,:,:]", "[0]", "[0,0,::0,:]"])
def test_a_slice_that_cannot_be_is_told(lenet, dims):
    answer = lenet.get("/v2/tensor/slice", params={**PARAMS, "row": 0, "dims": dims})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "bad_slice"


def test_tensors_of_every_type_are_shown(samples):
    client = samples("record_api/values")
    tags = client.get("/v2/tags", params={"kind": "tensor"}).json()["tags"]
    types = set()
    for tag in tags:
        params = {"run": "./values", "tag": tag["tag"]}
        types.add(client.get("/v2/tensor/steps", params=params).json()["type"])
        assert client.get("/v2/tensor/slice", params={**params, "row": 0}).status_code == 200
        assert client.get("/v2/tensor/distribution", params=params).status_code == 200
    assert {"bool", "int8", "int64", "uint64", "float16", "float64"} <= types
