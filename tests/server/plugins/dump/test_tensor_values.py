"""Routes of a tensor's values."""

import io
import json
from typing import Any

import numpy as np
import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.http.responses import decode
from mindinsight.server.plugins.dump.tensor_values import (
    check_numbers,
    heat_map_answer,
    histogram_answer,
    window_answer,
)


def test_complex_numbers_come_as_two_columns() -> None:
    values = Held(np.array([[1 + 2j, 3 - 4j]]))
    answer = json.loads(bytes(window_answer(values, "", "[:,1]", 0, 0, "").body))
    assert (decode(answer["values"]).tolist(), decode(answer["imaginary"]).tolist()) == ([3.0], [-4.0])
    assert answer["dtype"] == "complex128"
    assert decode(json.loads(bytes(heat_map_answer(values, None, "").body))["values"])[1] == 5.0


@pytest.mark.parametrize(
    ("numbers", "exact"),
    [
        ([[2**53 + 1, -5]], ["9007199254740993", "-5"]),
        ([[2**64 - 1]], ["18446744073709551615"]),
        ([[7]], None),
    ],
)
def test_integers_that_doubles_cannot_hold_come_as_texts_too(
    numbers: list[list[int]], exact: list[str] | None
) -> None:
    answer = json.loads(bytes(window_answer(Held(np.array(numbers)), "", None, 0, 0, "").body))
    assert answer.get("exact") == exact
    assert decode(answer["values"]).tolist() == [float(number) for number in numbers[0]]


def test_text_has_no_values_and_a_slice_must_fit() -> None:
    with pytest.raises(ApiError, match="cannot be shown"):
        check_numbers(Held(np.array("text")))
    with pytest.raises(ApiError, match="dimensions"):
        window_answer(Held(np.ones(3)), "", "[0,0]", 0, 0, "")


BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}
TENSOR = {**BROKEN, "graph": "Net/0", "operator": "MatMul-op66", "direction": "output", "slot": "0"}


def test_a_window_of_values(ask: Any, client: Any, base: Any) -> None:
    whole = np.load(io.BytesIO(client.get("/v2/dump/download", params=TENSOR).content))
    answer = ask("values", **TENSOR)
    assert answer["window"] == list(whole.shape)
    np.testing.assert_array_equal(decode(answer["values"]).reshape(whole.shape), whole)
    part = ask("values", **TENSOR, dims="[1:3,0]")
    np.testing.assert_array_equal(decode(part["values"]), whole[1:3, 0])
    piece = client.get("/v2/dump/download", params={**TENSOR, "dims": "[1:3,:]"}).content
    np.testing.assert_array_equal(np.load(io.BytesIO(piece)), whole[1:3])


def test_notable_elements_have_their_index(ask: Any, client: Any) -> None:
    whole = np.load(io.BytesIO(client.get("/v2/dump/download", params=TENSOR).content))
    low = np.unravel_index(np.nanargmin(whole), whole.shape)
    answer = ask("elements", **TENSOR)
    assert (answer["nans"], answer["minimum"]) == ([0, 0], [int(axis) for axis in low])
    assert "nans" not in ask("elements", **{**TENSOR, "dump": "./job/healthy"})


def test_the_histogram_counts_the_finite_elements(ask: Any) -> None:
    histogram = ask("histogram", **TENSOR, bins=10)
    counts, edges = decode(histogram["counts"]), decode(histogram["edges"])
    assert counts.sum() == ask("values", **TENSOR)["rows"] * ask("values", **TENSOR)["columns"] - 1
    assert (len(counts), len(edges)) == (10, 11)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([np.nan] * 3, (3, 3)), ([np.inf, -np.inf], (2, 0)), ([np.nan, np.inf], (2, 1)), ([], (0, 0))],
)
def test_a_histogram_without_a_finite_element_counts_all_and_nan(
    values: list[float], expected: tuple[int, int]
) -> None:
    answer = json.loads(bytes(histogram_answer(Held(np.array(values)), 4, "").body))
    assert (answer["elements"], answer["nans"]) == expected
    finite = json.loads(bytes(histogram_answer(Held(np.array([*values, 1.0])), 4, "").body))
    assert "elements" not in finite


def test_the_heat_map_shows_what_is_not_finite(ask: Any) -> None:
    heatmap = ask("heatmap", **TENSOR)
    assert np.isnan(decode(heatmap["values"])).sum() == 1


def test_a_tensor_of_which_only_statistics_were_kept_has_no_values(client: Any) -> None:
    tensor = {"operator": "Functional.relu.0.forward", "direction": "output", "slot": "0"}
    answer = client.get("/v2/dump/values", params={"dump": "./torch", "step": 0, **tensor})
    assert answer.json()["error"]["code"] == "only_statistics"
