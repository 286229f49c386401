"""Counts of runs with NaN or infinity in good and bad groups."""

import math
from typing import Any

import numpy as np
import pytest

from tests.server.plugins.answers.curves import Ask, noisy, run


def broken(seed: int, step: int) -> Any:
    values = np.array(noisy(seed))
    values[step:] = math.nan
    return values


@pytest.mark.parametrize(
    ("good", "bad", "verdict"),
    [
        (0, 1, None),
        (1, 5, "unknown"),
        (5, 1, "unknown"),
        (6, 0, "found"),
        (1, 6, "found"),
        (3, 3, "note"),
        (1, 0, "unknown"),
    ],
)
def test_runs_of_both_groups_are_counted(ask: Ask, good: int, bad: int, verdict: str | None) -> None:
    runs = [
        run(f"{group}{number}", {"loss": broken(number + by, 120 + number if number < count else 400)})
        for group, count, by in (("g", good, 0), ("b", bad, 20))
        for number in range(6)
    ]
    names = {"good": [f"./g{number}" for number in range(6)], "bad": [f"./b{number}" for number in range(6)]}
    claims = ask(*runs).get("/why", params=names).json()["claims"]
    counted = [claim for claim in claims if claim["key"].startswith("claim.why.non_finite")]
    if verdict is None:
        assert not counted
        assert (
            claims[0]["text"]
            == "loss has NaN or infinity in 1 of 6 bad runs, first at step 120, and in no good run."
        )
        return
    (claim,) = counted
    texts = [
        f"{count} of 6 {name} runs" + (f" (first at step 120, in {name[0]}0)" if count else "")
        for name, count in (("bad", bad), ("good", good))
    ]
    assert claim["verdict"] == verdict
    assert claim["text"].startswith(f"loss has NaN or infinity in {texts[0]}, and in {texts[1]}")
    assert [row["run"] for row in claim["evidence"]] == [
        *(f"./g{number}" for number in range(good)),
        *(f"./b{number}" for number in range(bad)),
    ]
    together = any(claim["key"] == "claim.why.together" for claim in claims)
    assert together == (verdict == "note")
