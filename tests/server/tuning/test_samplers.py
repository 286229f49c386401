"""Samplers: the same trials as plain Optuna for equal seeds; Gaussian processes that find minima."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import optuna
import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.gaussian_process import (
    GaussianProcess,
    GaussianProcessSampler,
    acquisition,
    from_unit,
    matern,
    unit,
)
from mindinsight.server.tuning.samplers import make_pruner, make_sampler
from mindinsight.server.tuning.study import quiet_optuna
from mindinsight.server.tuning.tuning_file import Pruner, Tuner, parse_config
from mindinsight.server.tuning.tuning_parameters import suggest

A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def branin(x: Any, y: Any) -> Any:
    """Three minima of 0.397887."""
    return (
        (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2
        + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x)
        + 10
    )


def hartmann6(*x: Any) -> float:
    """A minimum of -3.32237."""
    return float(-np.array([1.0, 1.2, 3.0, 3.2]) @ np.exp(-(A * (np.array(x) - P) ** 2).sum(1)))


BOUNDS = {
    branin: {"x": (-5, 10), "y": (0, 15)},
    hartmann6: {f"x{i}": (0, 1) for i in range(6)},
}


def parameters(bounds: Any) -> Any:
    ranges = "".join(f"  {name}: {{bounds: [{a}, {b}], type: float}}\n" for name, (a, b) in bounds.items())
    text = f"summary_base_dir: r\ncommand: c\ntarget: {{name: loss}}\nparameters:\n{ranges}"
    return parse_config(text, "t").parameters


def ours(sampler: Any, function: Any, trials: Any) -> Any:
    study = optuna.create_study(sampler=sampler)
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, function(*suggest(trial, parameters(BOUNDS[function])).values()))
    return study


def plain(sampler: Any, function: Any, trials: Any) -> Any:
    study = optuna.create_study(sampler=sampler)
    study.optimize(
        lambda trial: function(*(trial.suggest_float(name, *b) for name, b in BOUNDS[function].items())),
        trials,
    )
    return study


@pytest.fixture(autouse=True)
def quiet() -> Iterator[Any]:
    with quiet_optuna():
        yield


@pytest.mark.parametrize("function", [branin, hartmann6])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("tpe", lambda: optuna.samplers.TPESampler(seed=7)),
        ("random", lambda: optuna.samplers.RandomSampler(seed=7)),
        ("cmaes", lambda: optuna.samplers.CmaEsSampler(seed=7)),
    ],
)
def test_equal_seeds_give_the_trials_of_plain_optuna(name: str, make: Any, function: Any) -> None:
    mine = ours(make_sampler(Tuner(name, seed=7), parameters(BOUNDS[function])), function, 40)
    theirs = plain(make(), function, 40)
    assert [trial.params for trial in mine.trials] == [trial.params for trial in theirs.trials]
    assert mine.best_value == theirs.best_value


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ucb", "pi", "ei"])
def test_gaussian_processes_come_close_to_the_minimum_of_branin(method: str) -> None:
    study = ours(make_sampler(Tuner("gp", {"method": method}, seed=1), ()), branin, 30)
    assert study.best_value < 1.0
    assert plain(optuna.samplers.RandomSampler(seed=1), branin, 30).best_value > study.best_value


@pytest.mark.slow
def test_gaussian_processes_take_choices_steps_logarithms_and_goals() -> None:
    def objective(trial: Any) -> Any:
        kind = trial.suggest_categorical("kind", ["a", "b", "c"])
        rate = trial.suggest_float("rate", 1e-5, 1, log=True)
        width = trial.suggest_int("width", 1, 9)
        step = trial.suggest_float("step", 0.1, 0.5, step=0.1)
        return (kind == "b") - abs(math.log10(rate) + 3) / 5 - abs(width - 4) / 9 - abs(step - 0.3)

    study = optuna.create_study(direction="maximize", sampler=GaussianProcessSampler("ei", seed=0))
    study.optimize(objective, 35)
    assert study.best_params["kind"] == "b"
    assert study.best_value > 0.75


def test_parallel_gaussian_trials_differ() -> None:
    study = ours(GaussianProcessSampler("ucb", seed=0), branin, 8)
    pending: list[Any] = [tuple(suggest(study.ask(), parameters(BOUNDS[branin])).values()) for _ in range(4)]
    distances = [math.dist(a, b) for a, b in itertools.combinations(pending, 2)]
    assert min(distances) > 0.2


def test_a_process_goes_through_its_points_and_knows_where_it_knows_nothing() -> None:
    points = np.array([[0.1], [0.4], [0.8]])
    model = GaussianProcess(points, np.array([-1.0, 0.2, 1.1]), np.array([0.3]), 1e-6)
    mean, deviation = model.predict(np.array([[0.4], [0.6]]))
    assert mean[0] == pytest.approx(0.2, abs=1e-3)
    assert deviation[0] < 0.01 < deviation[1]


def test_matern_is_that_of_the_book() -> None:
    """Rasmussen and Williams, equation 4.17, at distance 1."""
    expected = (1 + math.sqrt(5) + 5 / 3) * math.exp(-math.sqrt(5))
    assert matern(np.zeros((1, 1)), np.ones((1, 1)))[0, 0] == pytest.approx(expected)


def test_acquisition_functions() -> None:
    mean, deviation = np.array([0.0, 1.0]), np.array([1.0, 0.5])
    assert acquisition("ucb", mean, deviation, 1.0) == pytest.approx([2.576, 2.288])
    assert acquisition("pi", mean, deviation, 0.95) == pytest.approx([0.158655, 0.5], abs=1e-6)
    assert acquisition("ei", mean, deviation, 1.0) == pytest.approx([0.083316, 0.199471], abs=1e-5)


@pytest.mark.parametrize(
    "distribution",
    [
        optuna.distributions.FloatDistribution(1e-4, 2, log=True),
        optuna.distributions.FloatDistribution(0.1, 0.9, step=0.2),
        optuna.distributions.IntDistribution(3, 17),
        optuna.distributions.IntDistribution(1, 64, log=True),
        optuna.distributions.CategoricalDistribution(["a", 2, None]),
    ],
)
def test_every_share_is_a_value_and_every_value_a_share(distribution: Any) -> None:
    for share in np.linspace(0, 1, 41):
        value = from_unit(float(share), distribution)
        assert distribution._contains(distribution.to_internal_repr(value))
        again = from_unit(unit(value, distribution), distribution)
        assert again == pytest.approx(value) if isinstance(value, float) else again == value


def test_a_grid_with_conditions_has_each_combination_once() -> None:
    text = """\
summary_base_dir: r
command: c
target: {name: loss}
tuner: {name: grid}
parameters:
  kind: {choice: [sgd, momentum]}
  momentum: {choice: [0.8, 0.9], when: {kind: momentum}}
"""
    config = parse_config(text, "t")
    study = optuna.create_study(sampler=make_sampler(config.tuner, config.parameters))
    study.stop = lambda: None  # type: ignore[method-assign]
    combinations = []
    for _ in range(3):
        trial = study.ask()
        combinations.append(suggest(trial, config.parameters))
        study.tell(trial, 0.0)
    expected = [{"kind": "sgd"}, {"kind": "momentum", "momentum": 0.8}, {"kind": "momentum", "momentum": 0.9}]
    assert sorted(map(str, combinations)) == sorted(map(str, expected))


def test_a_study_that_goes_on_draws_other_numbers() -> None:
    first = ours(make_sampler(Tuner("random", seed=3), ()), branin, 2)
    later = ours(make_sampler(Tuner("random", seed=3), (), trials=2), branin, 2)
    assert first.trials[0].params != later.trials[0].params


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        BadSettings, match=r"needs the package torch.*Methods ucb, pi and ei need nothing more"
    ):
        make_sampler(Tuner("gp", {"method": "logei"}), ())
    with pytest.raises(BadSettings, match="needs the package cmaes"):
        make_sampler(Tuner("cmaes"), ())


def test_pruners_by_name() -> None:
    assert isinstance(make_pruner(None, 5), optuna.pruners.NopPruner)
    assert isinstance(make_pruner(Pruner("median", "loss"), None), optuna.pruners.NopPruner)
    assert isinstance(make_pruner(Pruner("median", "loss"), 5), optuna.pruners.MedianPruner)
    assert isinstance(make_pruner(Pruner("hyperband", "loss"), 5), optuna.pruners.HyperbandPruner)
