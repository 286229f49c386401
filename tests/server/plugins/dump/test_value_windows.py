"""Answers about values of one tensor, on arrays in memory."""

import json

import numpy as np
import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.arrays.stored import Held
from mindinsight.server.http.column_encoding import decode
from mindinsight.server.plugins.dump.value_windows import check_numbers, heat_map_answer, window_answer


def test_complex_numbers_come_as_two_columns() -> None:
    values = Held(np.array([[1 + 2j, 3 - 4j]]))
    answer = json.loads(bytes(window_answer(values, "", "[:,1]", 0, 0, "").body))
    assert (decode(answer["values"]).tolist(), decode(answer["imaginary"]).tolist()) == ([3.0], [-4.0])
    assert answer["dtype"] == "complex128"
    assert decode(json.loads(bytes(heat_map_answer(values, None, "").body))["values"])[1] == 5.0


def test_text_has_no_values_and_a_slice_must_fit() -> None:
    with pytest.raises(ApiError, match="cannot be shown"):
        check_numbers(Held(np.array("text")))
    with pytest.raises(ApiError, match="dimensions"):
        window_answer(Held(np.ones(3)), "", "[0,0]", 0, 0, "")
