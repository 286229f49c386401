"""How well a setting tells two groups of runs apart."""

import pytest

from mindinsight.server.curves.separation import chance, separation


def test_numbers_separate_by_their_order() -> None:
    assert separation([0.1, 0.2], [0.3, 0.4]) == 1
    assert separation([0.1, 0.3], [0.2, 0.4]) == pytest.approx(0.5)
    assert separation([1, 2], [1, 2]) == 0


def test_texts_separate_by_their_shares() -> None:
    assert separation(["adam", "adam"], ["sgd"]) == 1
    assert separation(["adam", "sgd"], ["sgd", "sgd"]) == pytest.approx(0.5)
    assert separation(["adam"], ["adam"]) == 0


def test_a_setting_that_only_one_group_has_tells_them_apart() -> None:
    assert separation([None, None], [0.1, 0.2]) == 1
    assert separation([True], [1]) == 1


def test_without_a_group_nothing_is_told_apart() -> None:
    assert separation([], [1]) == 0


def test_few_runs_are_told_apart_by_chance() -> None:
    assert chance([1, 2, 3], [4]) == pytest.approx(0.5)
    assert chance([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    assert chance([1] * 10, [2] * 10) < 0.01
    assert chance([1, 1], [1, 1]) == 1
