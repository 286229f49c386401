"""Tensors of real runs: slices, statistics, histograms."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.client.reader import open as open_base

TENSOR = {"train_id": "./values", "tag": "tensor/float32/tensor"}


def tensor(v1: Any, **query: Any) -> Any:
    return v1.ok("datavisual/tensors", **TENSOR, **query)["tensors"][0]["values"]


def test_tensors_and_their_slices(v1: Any, base: Any) -> None:
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


def test_details_of_tensors(v1: Any) -> None:
    stats = tensor(v1, detail="stats")[0]["value"]
    assert set(stats) == {"dims", "data_type", "statistics"}
    buckets = tensor(v1, detail="histogram")
    assert len({tuple(left for left, _, _ in item["value"]["histogram_buckets"]) for item in buckets}) == 1


def test_numbers_that_are_none_are_texts(v1: Any) -> None:
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
def test_slices_that_cannot_be_had(v1: Any, query: Any, code: str) -> None:
    assert v1.fault("datavisual/tensors", **TENSOR, **query) == (400, code)


def test_one_bad_pair_fails_the_whole_call(v1: Any) -> None:
    query = {"train_id": "./values", "tag": ["tensor/float32/tensor", "none"]}
    assert v1.fault("datavisual/tensors", **query) == (400, "50545012")
