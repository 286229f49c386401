"""Reasons that the signs of several ranks give."""

import math

import pytest

from mindinsight.writer.capture.rank_signs import (
    FINE,
    OWN,
    SHARED,
    SILENT,
    Examined,
    RankSign,
    Replicas,
    combined,
)

GOOD = RankSign(FINE, 1.5)
REDUCED, BROKEN = RankSign(SHARED, math.nan), RankSign(OWN, math.nan)
TWO = "the gradients differ between the ranks: norm 1.5 on rank 0, 3 on rank 1"
THREE = "the gradients of rank 2 differ: norm 1.5 on rank 0, 1.5 on rank 1, 3 on rank 2"


@pytest.mark.parametrize(
    ("signs", "reason", "cause", "rank", "outcome"),
    [
        ([GOOD, GOOD], "", FINE, 0, ("", FINE)),
        ([REDUCED, BROKEN], "the norm is nan", SHARED, 0, ("the norm is nan; rank 1 reported it", OWN)),
        ([REDUCED, BROKEN], "the loss is nan", OWN, 1, ("the loss is nan", OWN)),
        ([REDUCED, REDUCED], "the norm is nan", SHARED, 0, ("the norm is nan", SHARED)),
        ([GOOD, RankSign(SHARED, 9.0)], "", FINE, 0, ("another rank reported a fault", SHARED)),
        ([GOOD, RankSign(SILENT, 1.5)], "", FINE, 0, ("rank 1 reported it", SILENT)),
        ([GOOD, RankSign(FINE, 3.0)], "", FINE, 0, ("", FINE)),
        ([GOOD, RankSign(FINE, math.nan)], "", FINE, 0, ("", FINE)),
    ],
)
def test_the_ranks_at_which_a_fault_begins_are_named(
    signs: list[RankSign], reason: str, cause: int, rank: int, outcome: tuple[str, int]
) -> None:
    assert combined(signs, Examined(reason, cause), rank) == outcome


APART = {2: [1.5, 3.0], 3: [1.5, 1.5, 3.0]}


def signs(gradients: list[float], weights: list[float] | None = None) -> list[RankSign]:
    return [
        RankSign(FINE, norm, weight)
        for norm, weight in zip(gradients, weights or [math.nan] * len(gradients), strict=True)
    ]


@pytest.mark.parametrize(("ranks", "reason"), [(2, TWO), (3, THREE)])
def test_gradients_that_are_declared_to_be_the_same_are_compared_from_the_first_step_on(
    ranks: int, reason: str
) -> None:
    assert Replicas(True).check(0, signs(APART[ranks])) == reason
    assert Replicas(False).check(0, signs(APART[ranks])) == ""
    assert Replicas(True).check(0, [GOOD, RankSign(FINE, math.nan)]) == ""


def test_gradients_that_were_the_same_for_five_steps_have_to_stay_so() -> None:
    replicas = Replicas(None)
    assert [replicas.check(step, signs([1.5, 1.5, 1.5])) for step in range(5)] == [""] * 5
    assert replicas.check(5, signs(APART[3])) == THREE


def test_gradients_may_differ_while_they_are_accumulated() -> None:
    replicas = Replicas(None)
    answers = [
        replicas.check(step, signs([1.5, 1.5] if step % 4 == 3 else [1.5, 3.0], [7.0, 7.0]))
        for step in range(100)
    ]
    assert not any(answers)


def test_weights_that_differ_after_the_gradients_did_are_the_same_fault() -> None:
    replicas = Replicas(None)
    assert [replicas.check(step, signs([1.5] * 3, [7.0] * 3)) for step in range(5)] == [""] * 5
    assert replicas.check(5, signs(APART[3], [7.0] * 3)) == THREE
    assert replicas.check(50, signs([1.5] * 3, [7.2, 7.3, 7.2])) == ""


def test_weights_that_were_the_same_have_to_stay_so_and_it_is_told_once() -> None:
    replicas = Replicas(None)
    weights = {0: [7.0] * 3, 10: [7.1] * 3, 20: [7.2, 7.2001, 7.2], 30: [7.3, 7.4, 7.3]}
    answers = [replicas.check(step, signs(APART[3], weights.get(step))) for step in range(40)]
    norms = "norm 7.2 on rank 0, 7.2001 on rank 1, 7.2 on rank 2"
    reason = f"the weights of rank 1 differ and were equal at step 10: {norms}"
    assert [(step, text) for step, text in enumerate(answers) if text] == [(20, reason)]


def test_ranks_that_began_with_different_weights_share_them_out() -> None:
    replicas = Replicas(None)
    assert not any(replicas.check(step, signs(APART[3], APART[3])) for step in range(40))
