"""Values of a setting that set failing runs apart, as a sentence names them."""

from collections.abc import Callable

import numpy as np
import pytest

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.curves.failing_runs import failing_setting
from mindinsight.server.curves.setting_separation import Value


def region(column: list[Value], fails: list[bool]) -> tuple[str, int, int] | None:
    """Return the region, and the numbers of failing and of other runs in it."""
    chosen = np.array(fails)
    setting = failing_setting({"lr": column}, [*range(len(column))], chosen, 0.01)
    if setting is None:
        return None
    facts = {"setting": "lr", "objective": "loss", "region": setting.region, "failed": 0, "rest": 0}
    text = sentence(Claim("claim.lineage.failing", "found", {**facts, "n": 0, "others": 0}))
    start, end = text.index("it is ") + 6, text.index(" in 0 of")
    return text[start:end], int((setting.inside & chosen).sum()), int((setting.inside & ~chosen).sum())


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda x: x >= 30, ("30 or more", 10, 0)),
        (lambda x: x < 10, ("9 or less", 10, 0)),
        (lambda x: 15 <= x < 25, ("15 to 24", 10, 0)),
        (lambda x: x >= 30 or x in {0, 5}, ("30 or more", 10, 0)),
        (lambda x: x % 4 == 0, None),
    ],
)
def test_a_number_has_a_threshold_unless_an_interval_is_much_better(
    fails: Callable[[int], bool], expected: tuple[str, int, int] | None
) -> None:
    assert region([*range(40)], [fails(x) for x in range(40)]) == expected


def test_runs_that_did_not_record_the_setting_are_in_no_region() -> None:
    column: list[Value] = [None if x % 8 == 0 else x for x in range(40)]
    assert region(column, [x >= 30 or x % 8 == 0 for x in range(40)]) == ("30 or more", 9, 0)
    assert region(column, [x % 8 == 0 for x in range(40)]) is None


def test_a_text_has_the_values_of_the_failing_runs() -> None:
    column: list[Value] = ["adam", "sgd", "lion", "sgd"] * 10
    assert region(column, [value == "lion" for value in column]) == ("lion", 10, 0)
