import numpy as np
import pytest

from mindinsight.server.api.tables import lowest, thinned


def test_the_lowest_value_is_a_number_when_there_is_one() -> None:
    assert lowest(np.array([3.0, np.nan, -1.0, -np.inf])) == -1.0
    assert np.isnan(lowest(np.array([np.nan, np.inf])))


@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 10_000])
def test_thinning_keeps_both_ends_and_order(count: int) -> None:
    values = thinned(np.arange(count, dtype=np.float32))
    assert len(values) == min(count, 48)
    assert values[0] == 0
    assert values[-1] == count - 1
    assert (np.diff(values) > 0).all()
