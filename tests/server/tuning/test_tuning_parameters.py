"""Values of a parameter: whole ranges, steps without rounding errors, choices, and when it is active."""

import pytest

from mindinsight.server.tuning.tuning_parameters import Parameter, read_parameters
from mindinsight.server.tuning.yaml_nodes import ConfigError, read_yaml


def test_the_values_of_a_finite_parameter_in_order() -> None:
    assert Parameter("p", choices=("b", "a", 1)).values() == ["b", "a", 1]
    assert Parameter("p", low=-1, high=2, integer=True).values() == [-1, 0, 1, 2]
    assert Parameter("p", low=0.1, high=0.5, step=0.1).values() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert Parameter("p", low=0.0, high=0.25, step=0.1).values() == [0.0, 0.1, 0.2]


def test_a_range_of_floats_without_a_step_is_not_finite() -> None:
    assert not Parameter("p", low=0, high=1).finite
    assert Parameter("p", low=0, high=1, step=0.5).finite
    assert Parameter("p", low=0, high=1, integer=True).finite
    assert Parameter("p", choices=(True,)).finite


def test_a_parameter_is_active_when_all_its_conditions_hold() -> None:
    nested = Parameter("p", when={"kind": ("sgd", "adam"), "decay": (True,)})
    assert nested.active({"kind": "adam", "decay": True, "other": 1})
    assert not nested.active({"kind": "lamb", "decay": True})
    assert not nested.active({"kind": "sgd"})
    assert Parameter("p").active({})


def test_a_choice_of_too_many_values_is_a_sentence() -> None:
    values = ", ".join(map(str, range(1001)))
    with pytest.raises(ConfigError, match="has 1,001 values; at most 1,000"):
        read_parameters(read_yaml(f"p: {{choice: [{values}]}}")[0])
