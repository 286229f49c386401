"""Correlations of settings with an objective, with missing values and ties."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.correlations import association, correlation_ratio, pearson, ranks, spearman

TARGET = np.array([1.0, 2.0, 3.0, 4.0, np.nan])


def test_pearson_is_that_of_numpy_and_none_for_a_constant() -> None:
    pairs = np.random.default_rng(0).normal(size=(20, 2))
    assert pearson(pairs) == pytest.approx(float(np.asarray(np.corrcoef(pairs.T))[0, 1]))
    assert pearson(np.array([[1.0, 2.0], [1.0, 3.0]])) is None
    assert pearson(np.zeros((0, 2))) is None


def test_ranks_share_ties_and_see_through_any_scale() -> None:
    assert ranks(np.array([5.0, 1.0, 5.0, 2.0])).tolist() == [2.5, 0, 2.5, 1]
    values = np.arange(1.0, 9.0)
    assert spearman(values, np.exp(values)) == pytest.approx(1)


def test_numbers_are_associated_by_correlation_and_texts_by_groups() -> None:
    assert association([10, 20, 30, 40, 50], TARGET) == pytest.approx(1.0)
    assert association([4.0, 3.0, 2.0, 1.0, None], TARGET) == pytest.approx(1.0)
    assert association([1, 5, 2, None, 9], TARGET) == pytest.approx(
        abs(np.corrcoef([1, 5, 2], [1, 2, 3])[0, 1])
    )
    assert association(["sgd", "sgd", "adam", "adam", "adam"], TARGET) == pytest.approx(np.sqrt(4 / 5))


@pytest.mark.parametrize("values", [[1, 2, None, None, 5], [7] * 5, ["a"] * 5, ["a", "b", "c", "d", "e"]])
def test_too_few_rows_and_constants_have_no_association(values: list[Any]) -> None:
    assert association(values, TARGET) is None
    assert correlation_ratio(["a", "b", "a"], np.ones(3)) is None
