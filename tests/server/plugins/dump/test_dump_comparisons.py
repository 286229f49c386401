"""Routes of comparisons."""

import csv
import itertools
from typing import Any

import pytest

BROKEN, HEALTHY = "./job/broken", "./job/healthy"


@pytest.fixture(scope="module")
def comparison(client: Any) -> Any:
    body = {"target": {"dump": BROKEN, "step": 1}, "reference": {"dump": HEALTHY, "step": 1}}
    return client.post("/v2/dump/compare", json=body).json()["comparison"]


def test_a_comparison_tells_where_two_dumps_part(finished: Any, comparison: Any) -> None:
    answer = finished(f"compare/{comparison}")
    assert (answer["compared"], answer["counts"]["differ"], answer["counts"]["agree"]) == (99, 1, 98)
    first = answer["claims"][0]
    assert first["key"] == "claim.dump.introduced"
    assert [tensor["recorded"] for tensor in first["evidence"]] == ["MatMul-op66"]
    (row,) = finished(f"compare/{comparison}", only="differ")["rows"]
    assert (row["codes"], row["apart"], row["result"]) == (["not_finite"], 1, "differ")
    assert row["target_tensor"]["slot"] == "0"


def test_rows_of_a_comparison_are_searched_and_sorted(client: Any, finished: Any) -> None:
    body = {"target": {"dump": HEALTHY, "step": 1}, "reference": {"dump": HEALTHY, "step": 0}}
    number = client.post("/v2/dump/compare", json=body).json()["comparison"]
    rows = finished(f"compare/{number}", sort="cosine", limit=1000)["rows"]
    cosines = [row["cosine"] for row in rows if row["cosine"] is not None]
    assert cosines == sorted(cosines)
    rows = finished(f"compare/{number}", q="CONV1", limit=1000)["rows"]
    assert all("conv1" in f"{row['target']} {row['parameter']}".lower() for row in rows)
    assert finished(f"compare/{number}", only="alone")["total"] == 0
    picture = finished("picture", dump=HEALTHY, step=1, colour="error", comparison=number)
    assert max(box["share"] for box in picture["boxes"] if box["share"] is not None) == 1
    assert (
        finished("picture", dump=HEALTHY, step=1, colour="error", comparison=99)["boxes"][0]["share"] is None
    )


def test_the_report_is_a_csv(client: Any, finished: Any, comparison: Any) -> None:
    finished(f"compare/{comparison}")
    answer = client.get(f"/v2/dump/compare/{comparison}/csv")
    assert len(list(csv.DictReader(answer.text.splitlines()))) == 99


def test_the_strip_has_a_mark_for_each_operator_in_execution_order(
    finished: Any, client: Any, comparison: Any
) -> None:
    rows = finished(f"compare/{comparison}", limit=1000)["rows"]
    strip = client.get(f"/v2/dump/compare/{comparison}/strip").json()
    assert strip["done"]
    assert strip["operators"] == list(dict.fromkeys(row["target_tensor"]["operator"] for row in rows))
    states = [strip["names"][code] for code in strip["states"]]
    (position,) = [position for position, state in enumerate(states) if state == "introduced"]
    assert strip["operators"][position].endswith("MatMul-op66")
    assert strip["errors"][position] == "inf"
    assert states.count("agrees") == len(states) - 1
    spans = [(layer["begin"], layer["end"]) for layer in strip["layers"]]
    assert spans[0][0] == 0 and spans[-1][1] == len(states)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(spans))


def test_rows_are_found_by_the_parameter_that_an_input_is(client: Any, finished: Any) -> None:
    body = {"target": {"dump": HEALTHY, "step": 1}, "reference": {"dump": HEALTHY, "step": 0}}
    number = client.post("/v2/dump/compare", json=body).json()["comparison"]
    rows = finished(f"compare/{number}", q="conv1.weight", limit=1000)["rows"]
    inputs = [row for row in rows if row["target_tensor"]["direction"] == "input"]
    assert inputs and all(row["parameter"].endswith("conv1.weight") for row in inputs)
    assert all("conv1.weight" not in row["target"] for row in inputs)
