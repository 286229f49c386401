"""Routes of one tensor of a checkpoint, against the reader of the whole file."""

import io
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.weights.weight_files import open_weights
from mindinsight.server.http.column_encoding import decode

FILE = "./weights/tinynet-nan.ckpt"


def test_values_histogram_picture_and_file_of_a_tensor(base: Any, ask: Any, client: Any) -> None:
    expected = open_weights(base / "weights" / "tinynet-nan.ckpt").read("head.weight")
    tensor = {"file": FILE, "name": "head.weight"}
    window = ask("checkpoint/values", **tensor)
    assert (window["shape"], window["rows"]) == (list(expected.shape), expected.shape[0])
    assert decode(ask("checkpoint/histogram", **tensor)["counts"]).sum() == np.isfinite(expected).sum()
    assert ask("checkpoint/heatmap", **tensor)["window"] == list(expected.shape)
    answer = client.get("/v2/dump/checkpoint/download", params=tensor)
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), expected)


@pytest.mark.parametrize(
    ("file", "name", "code"),
    [
        (FILE, "nothing", "unknown_weight"),
        ("./weights/gone.ckpt", "head.weight", "unknown_checkpoint"),
        ("./../../etc/passwd", "head.weight", "unknown_checkpoint"),
    ],
)
def test_no_other_tensor_is_opened(client: Any, file: str, name: str, code: str) -> None:
    answer = client.get("/v2/dump/checkpoint/values", params={"file": file, "name": name})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, code)
