"""Parameters of a tuning file, and the values that a trial gets."""

import json
from pathlib import Path

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning import tuning_parameters
from mindinsight.server.tuning.tuning_parameters import (
    Parameter,
    distribution,
    environment,
    fill_in,
    grid_size,
    hyper_config,
    read_parameters,
    word,
)
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


RATE = Parameter("lr", low=0.1, high=0.3, step=0.1)
KIND = Parameter("kind", choices=("sgd", "adam"))
MOMENTUM = Parameter("momentum", low=1, high=4, integer=True, when={"kind": ("sgd",)})


def test_a_grid_counts_conditional_parameters_only_where_they_apply() -> None:
    assert grid_size([RATE, KIND]) == 6
    assert grid_size([RATE, KIND, MOMENTUM]) == 3 * (4 + 1)
    assert grid_size([]) == 1


def test_a_grid_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning_parameters, "LARGEST_GRID", 99)
    wide = [Parameter(name, low=0, high=9, integer=True) for name in ("a", "b")]
    with pytest.raises(BadSettings, match="more than 99 trials"):
        grid_size(wide)


def test_parameters_as_optuna_describes_them() -> None:
    assert distribution(KIND) == CategoricalDistribution(("sgd", "adam"))
    assert distribution(MOMENTUM) == IntDistribution(1, 4)
    assert distribution(RATE) == FloatDistribution(0.1, 0.3, step=0.1)
    assert distribution(Parameter("p", low=1e-5, high=1, log=True)) == FloatDistribution(1e-5, 1, log=True)


def test_only_what_users_defined_is_custom_lineage(tmp_path: Path) -> None:
    epoch = Parameter("epoch", low=1, high=9, integer=True, user_defined=False)
    text = hyper_config({"epoch": 3, "kind": "sgd"}, [epoch, KIND, MOMENTUM], tmp_path)
    assert json.loads(text) == {
        "params": {"epoch": 3, "kind": "sgd"},
        "summary_dir": str(tmp_path),
        "custom_lineage_data": {"kind": "sgd"},
    }
    with pytest.raises(BadSettings, match="100000 are allowed"):
        hyper_config({"kind": "x" * 100_000}, [KIND], tmp_path)


def test_variables_of_a_training() -> None:
    assert environment({"lr": 0.1, "decay": True}, "{}", "study/3") == {
        "MINDINSIGHT_PARAM_lr": "0.1",
        "MINDINSIGHT_PARAM_decay": "true",
        "MINDINSIGHT_HYPER_CONFIG": "{}",
        "MINDINSIGHT_TRIAL": "study/3",
    }


def test_words_of_a_command_are_filled_in_and_other_braces_stay() -> None:
    assert fill_in(["{a}{b}"], {"a": "{b}", "b": 1}) == ["{b}1"]
    assert fill_in(["{a}"], {}) == ["{a}"]
    words = fill_in(["--lr={lr}", "{lr}{flag}", "${HOME}", "{other}"], {"lr": 1e-5, "flag": False})
    assert words == ["--lr=1e-05", "1e-05false", "${HOME}", "{other}"]
    assert [word(value) for value in (True, "True", 1, 0.5)] == ["true", "True", "1", "0.5"]
