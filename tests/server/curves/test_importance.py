import numpy as np
import pytest

from mindinsight.server.curves.importance import correlation_ratio, importance, pearson

OBJECTIVE = np.array([1.0, 2.0, 3.0, 4.0, np.nan])


def test_numbers_by_correlation_texts_by_groups() -> None:
    assert importance([10, 20, 30, 40, 50], OBJECTIVE) == pytest.approx(1.0)
    assert importance([4.0, 3.0, 2.0, 1.0, None], OBJECTIVE) == pytest.approx(1.0)
    values = [1, 5, 2, None, 9]
    assert importance(values, OBJECTIVE) == pytest.approx(abs(np.corrcoef([1, 5, 2], [1, 2, 3])[0, 1]))
    assert importance(["sgd", "sgd", "adam", "adam", "adam"], OBJECTIVE) == pytest.approx(np.sqrt(4 / 5))


def test_nothing_is_said_where_nothing_can_be() -> None:
    assert importance([1, 2, None, None, 5], OBJECTIVE) is None
    assert importance([7, 7, 7, 7, 7], OBJECTIVE) is None
    assert importance(["a", "a", "a", "a", "a"], OBJECTIVE) is None
    assert importance(["a", "b", "c", "d", "e"], OBJECTIVE) is None
    assert pearson(np.array([[1.0, 2.0], [1.0, 3.0]])) is None
    assert pearson(np.zeros((0, 2))) is None
    assert correlation_ratio(["a", "b", "a"], np.ones(3)) is None
