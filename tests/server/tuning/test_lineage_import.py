"""Values of past runs, with the rounding of lineage, as values of a parameter."""

import math
from typing import Any

import pytest

from mindinsight.server.tuning.lineage_import import fitting
from mindinsight.server.tuning.tuning_parameters import Parameter

RANGE = Parameter("p", low=0.1, high=0.9)
WHOLE = Parameter("p", low=1, high=8, integer=True)
STEPS = Parameter("p", low=0.1, high=0.9, step=0.2)
CHOICES = Parameter("p", choices=(0.1, 64, True, "adam"))


@pytest.mark.parametrize(
    ("recorded", "parameter", "expected"),
    [
        (0.5, RANGE, 0.5),
        (0.89999998, RANGE, 0.89999998),
        (0.90000004, RANGE, 0.9),  # float32's nearest to 0.9
        (0.91, RANGE, None),
        (math.nan, RANGE, None),
        ("0.5", RANGE, None),
        (True, RANGE, None),
        (4.0, WHOLE, 4),
        (4.5, WHOLE, None),
        (9, WHOLE, None),
        (0.30000001, STEPS, 0.3),
        (0.4, STEPS, None),
        (0.1 + 1e-9, CHOICES, 0.1),
        (64.0, CHOICES, 64),
        ("True", CHOICES, True),
        ("adam", CHOICES, "adam"),
        ("sgd", CHOICES, None),
    ],
)
def test_what_was_recorded_is_a_value_that_the_file_allows_or_none(
    recorded: Any, parameter: Parameter, expected: Any
) -> None:
    value = fitting(recorded, parameter)
    assert (value, type(value)) == (expected, type(expected))
