"""Situations of odd numbers and steps in a comparison with a baseline, and of gaps between ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.curves.alignment import align
from mindinsight.server.curves.alignment_claims import claim_of
from mindinsight.server.curves.missing_ranks import missing_ranks
from tests.claims.situation import Question, exactly, situation

TOLERANCE = 1e-3
VERDICTS = (
    *("equal", "equal_common", "agrees", "agrees_common", "non_finite", "no_finite", "no_common_steps"),
    *("diverges", "diverges_within", "grows", "scaled", "apart", "noise", "differs"),
)
FALLING = (2 * np.exp(-np.arange(300) / 60) + 0.3).tolist()
LATER = [value * (1.1 if step >= 150 else 1) for step, value in enumerate(FALLING)]


def compared(
    name: str,
    truth: str,
    made: str,
    baseline: Sequence[float],
    run: Sequence[float],
    steps: Iterable[int] | None = None,
    base_steps: Iterable[int] | None = None,
) -> None:
    """Declare two series, whose steps are 0, 1, 2 … by default, and what their comparison says."""
    first = np.array([*(base_steps or range(len(baseline)))], np.int64)
    second = np.array([*(steps or range(len(run)))], np.int64)

    def generate(folder: Path) -> Question:
        def ask() -> list[Claim]:
            values, base = np.array(run, np.float64), np.array(baseline, np.float64)
            return [claim_of(align(second, values, first, base, TOLERANCE), TOLERANCE)]

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("claim.align", VERDICTS, made))(generate)


compared("series_without_points", "Nothing was recorded.", "no_common_steps", [], [])
compared("series_of_one_point", "It is the only step of both.", "equal", [1.0], [1.0])
compared("one_point_against_two", "The other step is not known.", "equal_common", [1.0, 2.0], [1.0])
compared("zeros_against_zeros", "No size to divide by.", "equal", [0.0] * 50, [0.0] * 50)
compared("zeros_against_negative_zeros", "They are one number.", "equal", [0.0] * 50, [-0.0] * 50)
compared("zeros_against_a_billionth", "Any difference from 0 counts.", "apart", [0.0] * 50, [1e-9] * 50)
compared("two_points_of_which_one_is_off", "Too few to judge.", "differs", [1.0, 2.0], [1.0, 2.1])
compared("nan_at_every_second_step", "At the same ones.", "equal", [1, math.nan] * 20, [1, math.nan] * 20)
compared("infinities_everywhere", "Nothing finite.", "no_finite", [math.inf] * 20, [math.inf] * 20)
compared("infinities_of_two_signs", "They differ.", "non_finite", [math.inf] * 20, [-math.inf] * 20)
compared(
    "every_tenth_step_of_a_run",
    "Of 300, 30 are known.",
    "equal_common",
    FALLING,
    FALLING[::10],
    range(0, 300, 10),
)
compared("a_run_that_is_one_step_late", "It counts from 1.", "apart", FALLING, FALLING, range(1, 301))
compared("difference_of_the_tolerance", "Not beyond it.", "agrees", [1.0] * 50, [1.001] * 50)
compared("difference_below_the_tolerance", "A tenth less.", "agrees", [1.0] * 50, [1.0009] * 50)
compared("difference_above_the_tolerance", "A tenth more.", "scaled", [1.0] * 50, [1.0011] * 50)
compared(
    "only_the_first_step_is_off", "It does not last.", "noise", FALLING, [FALLING[0] * 1.5, *FALLING[1:]]
)
compared(
    "steps_of_a_trillion",
    "They keep their places.",
    "diverges",
    FALLING,
    LATER,
    range(10**12, 10**12 + 300),
    range(10**12, 10**12 + 300),
)
compared("steps_below_zero", "They are steps.", "equal", [3, 2, 1], [3, 2, 1], [-5, 0, 5], [-5, 0, 5])
compared("steps_that_begin_later", "None is common.", "no_common_steps", [1.0] * 9, [1.0] * 9, range(9, 18))
compared("numbers_of_1e300", "Their squares overflow.", "equal", [1e300, 3e300] * 20, [1e300, 3e300] * 20)
compared("numbers_of_1e300_and_twice", "Twice as large.", "scaled", [1e300] * 40, [2e300] * 40)
compared("numbers_of_1e_300_and_twice", "Their squares are 0.", "scaled", [1e-300] * 40, [2e-300] * 40)
compared("values_of_opposite_sign", "Of the same size.", "scaled", FALLING, [-value for value in FALLING])


def gaps(name: str, truth: str, ranks: Sequence[int], missing: bool) -> None:
    key = "claim.health.missing_ranks"

    def generate(folder: Path) -> Question:
        return Question(direct=lambda: missing_ranks(set(ranks)))

    generate.__name__, generate.__doc__ = name, truth
    situation(makes=[key] if missing else [], never=[] if missing else [key])(generate)


gaps("a_rank_by_itself", "Nothing says that there were others.", [0], missing=False)
gaps("ranks_without_a_gap", "All from 0 on.", [0, 1, 2, 3], missing=False)
gaps("ranks_with_a_gap", "1 is not there.", [0, 2], missing=True)
gaps("ranks_that_begin_at_three", "0 to 2 are not there.", [3, 4], missing=True)
