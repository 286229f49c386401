import json
import math

from mindinsight.server.compute.json_values import non_finite_as_null, non_finite_as_text

VALUES = {"a": [1.5, math.nan, (math.inf, -math.inf)], "b": {"c": math.nan, "d": "x"}, "e": 3, "f": None}


def test_as_text() -> None:
    text = json.dumps(non_finite_as_text(VALUES), allow_nan=False)
    assert json.loads(text) == {
        "a": [1.5, "nan", ["inf", "-inf"]],
        "b": {"c": "nan", "d": "x"},
        "e": 3,
        "f": None,
    }


def test_as_null() -> None:
    text = json.dumps(non_finite_as_null(VALUES), allow_nan=False)
    assert json.loads(text) == {"a": [1.5, None, [None, None]], "b": {"c": None, "d": "x"}, "e": 3, "f": None}
