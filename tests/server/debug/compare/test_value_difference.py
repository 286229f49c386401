"""Differences of values, of which only the part that is read is computed."""

import numpy as np
import pytest

from mindinsight.server.debug.compare.value_difference import ValueDifference
from mindinsight.server.formats.arrays.lazy_array import PIECE, Held


def test_equal_values_differ_by_nothing_even_if_they_are_non_finite() -> None:
    target = np.array([[1.5, np.inf, np.nan], [2, -np.inf, np.nan]], np.float32)
    reference = np.array([[1.0, np.inf, np.nan], [2, np.inf, 3]], np.float32)
    difference = ValueDifference(Held(target), Held(reference))
    assert difference.shape == (2, 3)
    assert difference.dtype == np.float64
    np.testing.assert_array_equal(difference.part(()), [[0.5, 0, 0], [0, -np.inf, np.nan]])
    np.testing.assert_array_equal(difference.part((1, slice(0, 1))), [0])


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.complex64])
def test_all_pieces_are_the_difference(dtype: type[np.generic]) -> None:
    values = np.arange(PIECE + 5) % 100
    target, reference = values.astype(dtype), values[::-1].astype(dtype)
    pieces = list(ValueDifference(Held(target), Held(reference)).pieces())
    expected = target.astype(np.complex128) - reference.astype(np.complex128)
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
