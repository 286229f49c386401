"""Reasons that the signs of several ranks give."""

import math

import pytest

from mindinsight.writer.capture.rank_signs import FINE, OWN, SHARED, SILENT, Examined, RankSign, combined

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
        ([GOOD, RankSign(FINE, 3.0)], "", FINE, 0, (TWO, SHARED)),
        ([GOOD, GOOD, RankSign(FINE, 3.0)], "", FINE, 0, (THREE, SHARED)),
        ([GOOD, RankSign(FINE, math.nan)], "", FINE, 0, ("", FINE)),
    ],
)
def test_the_ranks_at_which_a_fault_begins_are_named(
    signs: list[RankSign], reason: str, cause: int, rank: int, outcome: tuple[str, int]
) -> None:
    assert combined(signs, Examined(reason, cause), rank, same_gradients=True) == outcome


def test_gradients_of_sharded_networks_may_differ() -> None:
    assert combined([GOOD, RankSign(FINE, 3.0)], Examined("", FINE), 0, same_gradients=False) == ("", FINE)
