"""Hyper-parameters and results: what is taken as a plain value, and what is refused by name."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.summary_writer.trials import trial


def test_values_are_plain_and_none_is_left_out() -> None:
    parameters = {"lr": np.float32(0.5), "n": np.array([3]), "bn": np.bool_(True), "opt": "sgd", "x": None}
    result = trial(parameters, {"acc": np.array(0.75)}, {"n": [1, np.int64(3)]}, "run")
    assert result.parameters == {"lr": 0.5, "n": 3, "bn": True, "opt": "sgd"}
    assert [type(value) for value in result.parameters.values()] == [float, int, bool, str]
    assert (dict(result.metrics), dict(result.domains)) == ({"acc": 0.75}, {"n": [1, 3]})


@pytest.mark.parametrize(
    ("parameters", "metrics", "domains", "error", "words"),
    [
        ([], {}, None, TypeError, "hparam_dict must be a dict"),
        ({}, 1, None, TypeError, "metric_dict must be a dict"),
        ({"layers": [1, 2]}, {}, None, TypeError, "'layers' must be a number"),
        ({"z": np.complex64(1)}, {}, None, TypeError, "'z' must be a number"),
        ({"a": 1}, {}, {"a": [1], "b": [1]}, ValueError, "unknown hyper-parameters: b"),
    ],
)
def test_what_is_no_value_is_named(
    parameters: Any, metrics: Any, domains: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        trial(parameters, metrics, domains, None)
