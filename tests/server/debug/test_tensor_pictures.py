"""Histograms and heat maps of tensors."""

import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.tensor_pictures import bin_values, find_elements, shrink_rows
from mindinsight.server.formats.arrays.lazy_array import PIECE, Held


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "u1", "?"])
def test_counts_are_those_of_numpy(dtype: str) -> None:
    values = (np.random.default_rng(0).random(size=(300, 401)) * 40).round().astype(dtype)
    counts, edges = bin_values(Held(values), 20)
    wide = values.astype(float)
    assert counts.sum() == values.size
    assert (edges[0], edges[-1]) == (wide.min(), wide.max())
    np.testing.assert_array_equal(counts, np.histogram(wide, bins=edges)[0])


def test_only_finite_elements_are_counted() -> None:
    counts, edges = bin_values(Held(np.array([math.nan, math.inf, 1.0, 2.0])), 4)
    assert (counts.sum(), edges[0], edges[-1]) == (2, 1, 2)
    assert bin_values(Held(np.array([math.nan])), 4)[0].sum() == 0
    assert bin_values(Held(np.zeros(0)), 4)[0].sum() == 0


def test_constant_huge_and_complex_tensors_have_a_histogram() -> None:
    assert bin_values(Held(np.full(9, 3.0)), 2)[0].sum() == 9
    assert bin_values(Held(np.array([-1.7e308, 1.7e308])), 2)[0].tolist() == [1, 1]
    assert bin_values(Held(np.array([3 + 4j, 0])), 5)[1][-1] == 5


def shrink(table: Any, most: int) -> Any:
    return shrink_rows(lambda start, stop: table[start:stop], table.shape[0], most)


def test_the_strongest_element_survives_shrinking() -> None:
    table = np.random.default_rng(0).normal(size=(1000, 700))
    table[123, 456], table[999, 0], table[5, 5] = 99, -77, math.inf
    picture = shrink(table, 64)
    assert picture.shape == (64, 64)
    assert {99.0, -77.0, math.inf} <= set(picture.ravel())
    table[5, 5] = math.nan
    assert np.isnan(shrink(table, 64)).sum() == 1


def test_a_small_table_stays_as_it_is() -> None:
    table = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(shrink(table, 64), table)
    assert shrink(np.array([[3 + 4j]]), 64).tolist() == [[5]]


def test_the_first_of_each_notable_element_is_found_across_pieces() -> None:
    values = np.zeros((3, PIECE), np.float32)
    values[2, 5], values[2, 7], values[1, 4], values[2, 9] = -2, 3, math.nan, math.inf
    values[0, 1] = values[2, 8] = 3
    assert find_elements(Held(values)) == {
        "nans": [1, 4],
        "positive_infs": [2, 9],
        "minimum": [2, 5],
        "maximum": [0, 1],
    }


@pytest.mark.parametrize(
    ("values", "indices"),
    [
        (np.array([[2**64 - 1, 2**64 - 2]], np.uint64), {"minimum": [0, 1], "maximum": [0, 0]}),
        (np.array([3 + 4j, 1, -6]), {"minimum": [1], "maximum": [2]}),
        (np.array([False, True]), {"minimum": [0], "maximum": [1]}),
        (np.float64(7), {"minimum": [], "maximum": []}),
        (np.array([math.nan, -math.inf]), {"nans": [0], "negative_infs": [1]}),
        (np.zeros((0, 3)), {}),
        (np.asfortranarray([[0.0, 5.0], [-1.0, 2.0]]), {"minimum": [1, 0], "maximum": [0, 1]}),
    ],
)
def test_elements_that_a_tensor_lacks_are_not_found(values: Any, indices: dict[str, list[int]]) -> None:
    assert find_elements(Held(np.asarray(values))) == indices
