"""How many trials a grid has, and how a training is given the values of one."""

import json
from pathlib import Path

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning import space
from mindinsight.server.tuning.space import (
    distribution,
    environment,
    fill_in,
    grid_size,
    hyper_config,
    shown,
)
from mindinsight.server.tuning.tuning_parameters import Parameter

RATE = Parameter("lr", low=0.1, high=0.3, step=0.1)
KIND = Parameter("kind", choices=("sgd", "adam"))
MOMENTUM = Parameter("momentum", low=1, high=4, integer=True, when={"kind": ("sgd",)})


def test_a_grid_counts_conditional_parameters_only_where_they_apply() -> None:
    assert grid_size([RATE, KIND]) == 6
    assert grid_size([RATE, KIND, MOMENTUM]) == 3 * (4 + 1)
    assert grid_size([]) == 1


def test_a_grid_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "LARGEST_GRID", 99)
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
    words = fill_in(["--lr={lr}", "{lr}{flag}", "${HOME}", "{other}"], {"lr": 1e-5, "flag": False})
    assert words == ["--lr=1e-05", "1e-05false", "${HOME}", "{other}"]
    assert [shown(value) for value in (True, "True", 1, 0.5)] == ["true", "True", "1", "0.5"]
