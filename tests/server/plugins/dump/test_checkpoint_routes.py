"""Routes of checkpoints."""

import io
import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug import checkpoint_weights
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.weight_files import WeightFile, open_weights
from mindinsight.server.http.responses import decode


def test_checkpoints_are_listed_measured_and_compared(ask: Any, finished: Any) -> None:
    assert [checkpoint["id"] for checkpoint in ask("checkpoints")["checkpoints"]] == [
        f"./weights/tinynet-{name}.ckpt" for name in ("1", "2", "nan")
    ]
    nan_checkpoint = finished("checkpoint", file="./weights/tinynet-nan.ckpt")
    assert [tensor["name"] for tensor in nan_checkpoint["tensors"] if tensor["statistics"]["nans"]] == [
        "head.weight"
    ]
    files = {"first": "./weights/tinynet-1.ckpt", "second": "./weights/tinynet-2.ckpt"}
    states = {
        tensor["name"]: tensor["state"]
        for tensor in finished("checkpoint/difference", **files)["differences"]
    }
    assert [name for name, state in states.items() if state == "unchanged"] == [
        "frozen",
        "learning_rate",
        "momentum",
    ]


def test_files_are_listed_by_number_and_files_without_one_by_time(base: Any, ask: Any) -> None:
    folder = base / "listed"
    folder.mkdir()
    names = ["net-9.npz", "net-100.npz", "net-20.npz", "last.npz", "best.npz"]
    try:
        for second, name in enumerate(names):
            np.savez(folder / name, weight=np.ones(2))
            os.utime(folder / name, (second, second))
        ids = [checkpoint["id"] for checkpoint in ask("checkpoints")["checkpoints"]]
    finally:
        shutil.rmtree(folder)
    expected = ["net-9", "net-20", "net-100", "last", "best"]
    assert [name for name in ids if "/listed/" in name] == [f"./listed/{name}.npz" for name in expected]


@pytest.mark.parametrize(
    "file", ["./weights/expected.json", "./../../etc/passwd", "/etc/passwd", "./nothing.ckpt", "\0"]
)
def test_no_other_file_is_opened(client: Any, file: str) -> None:
    answer = client.get("/v2/dump/checkpoint", params={"file": file})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_checkpoint")


def test_a_checkpoint_whose_checksum_does_not_fit_is_damaged(base: Any, finished: Any) -> None:
    body = (base / "weights" / "tinynet-1.ckpt").read_bytes().partition(b"crc_num")[0]
    path = base / "weights" / "damaged.ckpt"
    path.write_bytes(body + b"crc_num" + (1).to_bytes(10, "big"))
    files = {"first": "./weights/tinynet-1.ckpt", "second": "./weights/damaged.ckpt"}
    try:
        assert finished("checkpoint", file=files["first"])["damage"] == []
        answer = finished("checkpoint", file=files["second"])
        compared = finished("checkpoint/difference", **files)
    finally:
        path.unlink()
    assert answer["damage"] == compared["damage"] == [{"reason": "dump.checksum", "detail": "damaged.ckpt"}]


def test_a_comparison_whose_checksums_were_not_checked_has_an_error_and_no_verdict(
    base: Any, finished: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(file: WeightFile) -> Iterator[UnreadableError]:
        raise OSError("the disk is gone")
        yield

    monkeypatch.setattr(checkpoint_weights, "damage_of", cut_off)
    path = base / "weights" / "copied.ckpt"
    path.write_bytes((base / "weights" / "tinynet-1.ckpt").read_bytes())
    try:
        answer = finished(
            "checkpoint/difference", first="./weights/tinynet-1.ckpt", second="./weights/copied.ckpt"
        )
    finally:
        path.unlink()
    assert "the disk is gone" in answer["error"]
    assert answer["claims"] == []


def test_checkpoints_of_one_training_are_a_series_with_steps(ask: Any) -> None:
    series = ask("checkpoints")["series"]
    assert [[saved["label"] for saved in group["checkpoints"]] for group in series] == [
        ["1", "2"],
        ["tinynet-nan.ckpt"],
    ]


def test_frozen_and_broken_weights_stand_out(ask: Any, finished: Any) -> None:
    files = [f"./weights/tinynet-{name}.ckpt" for name in ("1", "2", "nan")]
    timeline = finished("checkpoint/timeline", file=files)
    assert (timeline["total"], len(timeline["rows"]), timeline["error"]) == (20, 20, "")
    rows = {row["name"]: row for row in timeline["rows"]}
    assert rows["frozen"]["states"][:2] == ["start", "unchanged"]
    assert rows["head.weight"]["non_finite"][1] == 0 < rows["head.weight"]["non_finite"][2]
    assert rows["head.weight"]["changes"][1] > 0
    later = ask("checkpoint/timeline", file=files, offset=18)
    assert [row["name"] for row in later["rows"]] == [row["name"] for row in timeline["rows"]][18:]


def test_a_timeline_is_of_two_files_at_least_and_of_files_that_exist(client: Any) -> None:
    def status(*files: str) -> int:
        answer = client.get("/v2/dump/checkpoint/timeline", params={"file": files})
        return int(answer.status_code)

    assert status("./weights/tinynet-1.ckpt") == 422
    assert status("./weights/tinynet-1.ckpt", "./weights/gone.ckpt") == 404


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
