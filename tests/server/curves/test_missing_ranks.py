"""Ranks without data: gaps, and nodes that record some of their ranks."""

from collections.abc import Collection

import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.curves.missing_ranks import missing_ranks

REST = "Whether the other ranks recorded anything is unknown."


@pytest.mark.parametrize(
    ("ranks", "recorded", "expected"),
    [
        ((0, 1, 2, 3), 0, []),
        ((1, 2, 3), 3, []),
        ((0, 2), 0, ["1 of 3 ranks is missing: 1."]),
        ((0, 5), 8, ["6 of 8 ranks are missing: 1–4, 6–7."]),
        ((0, 1, 2, 4, 5, 6, 7), 0, ["1 of 8 ranks is missing: 3."]),
        (set(range(16)) - {3, 11}, 16, ["2 of 16 ranks are missing: 3, 11."]),
        ((0, 8, 16), 0, [f"1 of every 8 ranks has data: 0, 8, 16. {REST}"]),
        ((0, 8), 16, [f"1 of every 8 ranks has data: 0, 8. {REST}"]),
        ((0, 1, 8, 9, 16, 17), 24, [f"2 of every 8 ranks have data: 0, 1, 8, 9, 16, 17. {REST}"]),
        ((0, 200, 400), 0, [f"1 of every 200 ranks has data: 0, 200, 400. {REST}"]),
        (
            (0, 8, 24, 32),
            40,
            [f"1 of every 8 ranks has data: 0, 8, 24, 32. {REST}", "1 of 5 ranks is missing: 16."],
        ),
        ((0, 8, 16), 32, [f"1 of every 8 ranks has data: 0, 8, 16. {REST}", "1 of 4 ranks is missing: 24."]),
        ((), 8, []),
    ],
)
def test_only_a_gap_in_a_regular_set_is_missing(
    ranks: Collection[int], recorded: int, expected: list[str]
) -> None:
    assert [sentence(claim) for claim in missing_ranks(ranks, recorded)] == expected


def test_ranks_beyond_the_limit_of_runs_may_be_there() -> None:
    (claim,) = missing_ranks({2, 3, 4, 5}, left_out=2)
    assert claim.key == "claim.health.left_out_ranks"
    assert claim.values["ranks"] == ["0–1"]
