"""Permutation tests of settings: by chance, of any shape, and of settings that follow each other."""

import numpy as np
import pytest

from mindinsight.server.curves.correlations import ranks
from mindinsight.server.curves.permutation_test import CHANCE, Factor, proven, rivals
from mindinsight.server.types import Doubles, Ints


def number(values: Doubles) -> Factor:
    return Factor(np.unique(values, return_inverse=True)[1], ranks(values))


def text(values: Ints) -> Factor:
    return Factor(values, None)


def test_settings_that_do_nothing_are_proven_as_rarely_as_promised() -> None:
    named = 0
    for seed in range(60):
        chance = np.random.default_rng(seed)
        factors = {f"n{n}": number(chance.uniform(size=24)) for n in range(8)}
        factors["text"] = text(chance.integers(0, 4, 24))
        named += bool(proven(factors, chance.standard_normal(24)))
    assert named <= 4  # more than three times as many as expected: 60 searches, CHANCE of 2 %
    assert CHANCE == 0.02


@pytest.mark.parametrize("shape", ["trend", "optimum", "text", "missing"])
def test_effects_of_each_shape_are_proven_and_no_other(shape: str) -> None:
    chance = np.random.default_rng(1)
    size, kind = chance.uniform(-1, 1, 50), chance.integers(0, 3, 50)
    known = chance.random(50) < 0.6
    partly = Factor(np.where(known, ranks(size) + 1, 0).astype(np.int64), np.where(known, ranks(size), -1.0))
    factors = {
        "size": number(size),
        "kind": text(kind),
        "partly": partly,
        "noise": number(chance.uniform(size=50)),
    }
    effects = {"trend": size, "optimum": 2 * size**2, "text": kind == 1, "missing": 2.0 * known}
    names = {"trend": "size", "optimum": "size", "text": "kind", "missing": "partly"}
    target = ranks(effects[shape] + 0.2 * chance.standard_normal(50))
    assert proven(factors, target) == [names[shape]]


def test_a_setting_that_follows_a_proven_one_is_not_proven_by_it() -> None:
    chance = np.random.default_rng(2)
    rate = chance.uniform(size=80)
    factors = {"follower": number(rate + 0.3 * chance.standard_normal(80)), "rate": number(rate)}
    assert proven(factors, ranks(rate + 0.1 * chance.standard_normal(80))) == ["rate"]


def test_a_setting_that_explains_as_much_is_a_rival_and_another_effect_is_not() -> None:
    chance = np.random.default_rng(4)
    rate, size = chance.uniform(size=(2, 40))
    factors = {
        "rate": number(rate),
        "double": number(rate + 0.01 * chance.standard_normal(40)),
        "size": number(size),
        "noise": number(chance.uniform(size=40)),
    }
    target = ranks(rate + size + 0.1 * chance.standard_normal(40))
    assert rivals(factors, target, "rate") == ["double"]
    assert rivals(factors, target, "size") == []


def test_a_setting_that_matters_only_with_a_proven_one_is_proven() -> None:
    chance = np.random.default_rng(3)
    rate, decay = chance.uniform(-1, 1, (2, 100))
    target = ranks(rate + 1.5 * (rate - 1) * decay * (decay > 0) + 0.1 * chance.standard_normal(100))
    assert set(proven({"rate": number(rate), "decay": number(decay)}, target)) == {"rate", "decay"}


def test_without_runs_left_nothing_more_is_proven() -> None:
    factors = {"rate": number(np.arange(3.0)), "same": number(np.ones(3))}
    assert proven(factors, np.arange(3.0)) == []
    assert proven({"rate": number(np.arange(20.0))}, np.ones(20)) == []
