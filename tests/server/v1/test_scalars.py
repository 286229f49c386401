import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindinsight.server.store.series import ScalarPart, ScalarSeries
from mindinsight.server.v1.scalars import Pair, ScalarAnswers, scalars_json

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


def items(pairs: list[Pair]) -> Callable[[], bytes]:
    return lambda: scalars_json(pairs, full=False)


def series(count: int, version: int = 1) -> ScalarSeries:
    steps = np.arange(count, dtype=np.int64)
    part = ScalarPart(steps, steps / 2, np.sin(steps).astype(np.float32), np.zeros(1, np.int64))
    return ScalarSeries("loss", [part], version)


def test_an_answer_is_made_once_until_its_series_changes() -> None:
    answers = ScalarAnswers()
    pairs = [Pair("./a", "loss/scalar", series(3000))]
    assert answers.find("scalars", pairs) is None
    first = answers.get("scalars", pairs, items(pairs))
    assert answers.find("scalars", pairs) is first
    assert answers.find("metadata", pairs) is None
    assert answers.find("scalars", [Pair("./b", "loss/scalar", series(3000))]) is None
    assert answers.find("scalars", [Pair("./a", "loss/scalar", series(3001, version=2))]) is None


def test_plain_and_packed_are_the_same_content() -> None:
    pairs = [Pair("./a", "loss/scalar", series(3000)), Pair("./b", "loss/scalar", series(4))]
    answer = ScalarAnswers().get("scalars", pairs, items(pairs))
    assert gzip.decompress(answer.packed) == answer.plain
    assert answer.plain == scalars_json(pairs, full=False)
    long, short = (item["values"] for item in json.loads(answer.plain)["scalars"])
    assert len(long) <= 1000
    assert [point["step"] for point in short] == [0, 1, 2, 3]


@pytest.mark.parametrize("count", [1, 999, 1000, 1001, 2500])
def test_the_encoded_points_are_those_of_the_line(count: int) -> None:
    curve = series(count)
    body = scalars_json([Pair("./\u00e9", 'a"\udc80/scalar', curve)], full=True)
    assert body.isascii()
    assert body.endswith(b"\n")
    line = curve.line()
    values = [
        {"step": step, "value": value, "wall_time": wall}
        for step, value, wall in zip(
            line.steps.tolist(), line.values.tolist(), line.walls.tolist(), strict=True
        )
    ]
    item = {"train_id": "./\u00e9", "tag": 'a"\udc80/scalar', "values": values}
    assert json.loads(body) == {"scalars": [item]}


def test_answers_with_many_series_are_not_kept() -> None:
    answers = ScalarAnswers()
    pairs = [Pair(f"./{number}", "loss/scalar", series(4)) for number in range(5)]
    assert len(json.loads(answers.get("scalars", pairs, items(pairs)).plain)["scalars"]) == 5
    assert answers.find("scalars", pairs) is None
