from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.v1.row_sampling import even_rows, extreme_rows


@given(st.integers(0, 5000), st.integers(2, 60))
def test_even_rows_keep_both_ends_and_the_limit(count: Any, limit: Any) -> None:
    rows = even_rows(count, limit)
    assert len(rows) == len(set(rows.tolist())) <= max(limit, 0)
    assert len(rows) == min(count, limit)
    if count:
        assert rows[0] == 0
        assert rows[-1] == count - 1


@given(st.integers(1, 9000), st.integers(0, 2**32 - 1))
def test_extremes_survive(count: Any, seed: Any) -> None:
    values = np.random.default_rng(seed).standard_normal(count).astype(np.float32)
    rows = extreme_rows(values, 1000)
    assert len(rows) <= 1000
    assert np.all(np.diff(rows) > 0)
    assert {0, count - 1, int(values.argmin()), int(values.argmax())} <= set(rows.tolist())
    assert np.array_equal(rows, extreme_rows(values, 1000))


def test_every_stretch_keeps_one_value_that_is_not_finite() -> None:
    values = np.ones(50_000, np.float32)
    values[10_000:20_000] = np.nan
    values[45_000] = -np.inf
    rows = extreme_rows(values, 1000)
    assert len(rows) <= 1000
    strange = rows[~np.isfinite(values[rows])]
    assert len(strange) > 60
    assert np.diff(strange[:-1]).max() < 200
    assert strange[-1] == 45_000


def test_the_first_non_finite_value_is_kept() -> None:
    values = np.ones(50_000, np.float32)
    values[31_415] = np.nan
    assert 31_415 in extreme_rows(values, 1000)
