"""Importance by forests: what they find, and when they say that they know nothing."""

import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves import forest_importance as module
from mindinsight.server.curves.forest_importance import FEWEST, forest_importance
from tests.narrowing import require


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TREES", 20)
    monkeypatch.setattr(module, "REPEATS", 5)


def runs(count: int = 60) -> dict[str, list[Any]]:
    chance = np.random.default_rng(3)
    return {
        "bend": chance.uniform(-1, 1, count).tolist(),
        "rate": (10 ** chance.uniform(-5, -1, count)).tolist(),
        "optimizer": chance.choice(["adam", "sgd"], count).tolist(),
        "noise": chance.normal(size=count).tolist(),
        "constant": [1] * count,
    }


def test_a_bend_without_any_correlation_is_found_and_noise_is_not() -> None:
    columns = runs()
    objective = [
        value**2 + 0.1 * (name == "sgd")
        for value, name in zip(columns["bend"], columns["optimizer"], strict=True)
    ]
    result = require(forest_importance(columns, objective))
    importance = {column.name: column for column in result.columns}
    assert result.columns[0].name == "bend"
    assert importance["bend"].low > 0.5
    assert importance["bend"].sign == 0  # it falls, and it grows
    assert importance["noise"].importance < 0.05
    assert "constant" not in importance
    assert result.explained > 0.6
    assert result.runs == 60


def test_a_sign_is_that_of_the_ranks_and_texts_have_none() -> None:
    columns = runs()
    objective = [
        -math.log10(rate) + (name == "sgd")
        for rate, name in zip(columns["rate"], columns["optimizer"], strict=True)
    ]
    result = require(forest_importance(columns, objective))
    signs = {column.name: column.sign for column in result.columns}
    assert (signs["rate"], signs["optimizer"]) == (-1, 0)
    assert [column.name for column in result.columns[:2]] == ["rate", "optimizer"]
    assert all(column.low <= column.importance <= column.high for column in result.columns[:2])


def test_pure_noise_explains_nothing() -> None:
    result = require(forest_importance(runs(), np.random.default_rng(9).normal(size=60).tolist()))
    assert result.explained < 0.1


@pytest.mark.parametrize("objective", [[math.nan] * 60, [2.0] * 60, [*range(FEWEST - 1), *[math.nan] * 51]])
def test_too_few_runs_or_an_objective_that_does_not_vary(objective: list[float]) -> None:
    assert forest_importance(runs(), objective) is None


def test_missing_values_are_a_value_of_their_own() -> None:
    columns = {"dropout": [None, 0.5] * 20, "noise": np.random.default_rng(1).normal(size=40).tolist()}
    result = require(forest_importance(columns, [1.0, 2.0] * 20))
    assert result.columns[0].name == "dropout"
    assert result.columns[0].importance > 0.8


def test_the_same_runs_give_the_same_numbers() -> None:
    objective = runs()["bend"]
    assert forest_importance(runs(), objective) == forest_importance(runs(), objective)
