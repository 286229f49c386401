"""Reasons that the signs of several ranks give."""

import math

import pytest

from mindinsight.writer.capture.rank_signs import FINE, OWN, SHARED, RankSign, signs_reason

GOOD = RankSign(FINE, 1.5)
REDUCED, BROKEN = RankSign(SHARED, math.nan), RankSign(OWN, math.nan)
TWO = "the gradients differ between the ranks: norm 1.5 on rank 0, 3 on rank 1"
THREE = "the gradients of rank 2 differ: norm 1.5 on rank 0, 1.5 on rank 1, 3 on rank 2"


@pytest.mark.parametrize(
    ("signs", "own", "rank", "reason"),
    [
        ([GOOD, GOOD], "", 0, ""),
        ([REDUCED, BROKEN], "the norm is nan", 0, "the norm is nan; rank 1 reported it"),
        ([REDUCED, BROKEN], "the loss is nan", 1, "the loss is nan"),
        ([REDUCED, REDUCED], "the norm is nan", 0, "the norm is nan"),
        ([GOOD, RankSign(SHARED, 9.0)], "", 0, "another rank reported a fault"),
        ([GOOD, RankSign(FINE, 3.0)], "", 0, TWO),
        ([GOOD, GOOD, RankSign(FINE, 3.0)], "", 0, THREE),
        ([GOOD, RankSign(FINE, math.nan)], "", 0, ""),
    ],
)
def test_the_ranks_at_which_a_fault_begins_are_named(
    signs: list[RankSign], own: str, rank: int, reason: str
) -> None:
    assert signs_reason(signs, own, rank, same_gradients=True) == reason


def test_gradients_of_sharded_networks_may_differ() -> None:
    assert signs_reason([GOOD, RankSign(FINE, 3.0)], "", 0, same_gradients=False) == ""
