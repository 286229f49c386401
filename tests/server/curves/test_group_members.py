"""Members of a group with non-finite values are named, with the step."""

import numpy as np

from mindinsight.server.claims import sentence
from mindinsight.server.curves.group_members import non_finite_members

STEPS = np.arange(0, 50, 10)
WELL = np.ones(5)


def texts(*members: object) -> list[str]:
    curves = [(STEPS, np.array(values, np.float64)) for values in members]
    return [sentence(claim) for claim in non_finite_members([f"run_{n}" for n in range(len(curves))], curves)]


def test_a_member_that_diverges_is_named_with_the_step_from_which_it_does_not_count() -> None:
    assert texts(WELL, WELL) == []
    end = "is NaN or infinite from step 30 on and does not count in the mean from there."
    assert texts(WELL, [1, 1, 1, np.nan, np.inf]) == [f"run_1 {end}"]
    many = texts([np.nan] * 5, [1, 1, 1, 1, np.nan], WELL)
    assert many[0].startswith("2 runs are NaN or infinite up to their end, the first from step 0 on")
    assert many[0].endswith(": run_0, run_1.")


def test_values_between_finite_ones_are_interpolated() -> None:
    gap = "has NaN or infinite values, the first at step 10; the mean interpolates between its finite ones."
    assert texts(WELL, [1, np.nan, 1, 1, 1]) == [f"run_1 {gap}"]
    assert len(texts([1, np.inf, 1, 1, np.nan])) == 2
