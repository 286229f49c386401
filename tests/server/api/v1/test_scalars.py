"""Scalars of real runs."""

from typing import Any

LENET = {"train_id": "./lenet"}
LOSS = {**LENET, "tag": "loss/auto/scalar"}


def test_points_of_a_curve(v1: Any) -> None:
    points = v1.ok("datavisual/scalar/metadata", **LOSS)["metadatas"]
    steps = [point["step"] for point in points]
    assert steps == sorted(set(steps))
    assert all(set(point) == {"wall_time", "step", "value"} for point in points)
    answer = v1.ok("datavisual/scalars", **LOSS)["scalars"]
    assert answer == [{**LOSS, "values": points}]


def test_pairs_that_do_not_exist_are_left_out(v1: Any) -> None:
    query = {"train_id": ["./none", "./lenet"], "tag": ["none", "loss/auto/scalar"]}
    assert [item["train_id"] for item in v1.ok("datavisual/scalars", **query)["scalars"]] == ["./lenet"]
    assert v1.ok("datavisual/scalars") == {"scalars": []}


def test_what_is_not_finite_is_null(v1: Any) -> None:
    tags = v1.ok("datavisual/plugins", train_id="./values")["plugins"]["scalar"]
    values = [
        point["value"]
        for tag in tags
        for point in v1.ok("datavisual/scalar/metadata", train_id="./values", tag=tag)["metadatas"]
    ]
    assert None in values
