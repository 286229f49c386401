"""Routes of checkpoints."""

from typing import Any

import pytest


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


def test_checkpoints_of_one_training_are_a_series_with_steps(ask: Any) -> None:
    series = ask("checkpoints")["series"]
    assert [[saved["label"] for saved in group["checkpoints"]] for group in series] == [
        ["1", "2"],
        ["tinynet-nan.ckpt"],
    ]
