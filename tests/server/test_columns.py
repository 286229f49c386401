import numpy as np
import pytest

from mindinsight.server.columns import decode, encode


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "i1", "u4", "u2", "u1"])
def test_arrays_come_back_as_they_were(dtype):
    array = np.array([0, 1, 2, 100], dtype=dtype)
    column = encode(array)
    assert column["dtype"] == dtype
    assert decode(column).dtype == array.dtype
    assert decode(column).tolist() == array.tolist()


def test_long_integers_go_as_doubles_and_stay_exact():
    column = encode(np.array([0, 2**53, -5], dtype=np.int64))
    assert column["dtype"] == "f8"
    assert decode(column).tolist() == [0, 2**53, -5]


def test_big_endian_and_strided_arrays_are_put_right():
    assert decode(encode(np.arange(6, dtype=">f4")[::2])).tolist() == [0, 2, 4]


def test_what_is_not_a_number_survives():
    values = decode(encode(np.array([np.nan, np.inf, -np.inf])))
    assert np.isnan(values[0])
    assert values[1:].tolist() == [np.inf, -np.inf]


def test_truth_goes_as_bytes():
    assert encode(np.array([True, False]))["dtype"] == "u1"


def test_nothing_is_a_column_too():
    assert decode(encode(np.zeros(0))).tolist() == []
