"""Claims about failed trials; which situations make which is in `tests/claims/situations/tuning.py`."""

from typing import Any

from mindinsight.server.claims import sentence
from mindinsight.server.tuning.failed_trials import failed_trial_claims


def trials(state: str, count: int, **params: Any) -> list[dict[str, Any]]:
    return [{"state": state, "params": {**params, "x": number}} for number in range(count)]


def texts(*groups: list[dict[str, Any]]) -> list[str]:
    return [sentence(claim) for claim in failed_trial_claims([trial for group in groups for trial in group])]


def test_the_counts_are_those_of_trials_that_ended() -> None:
    running = trials("running", 3, opt="broken") + trials("interrupted", 1, opt="broken")
    others = trials("complete", 20, opt="adam") + trials("pruned", 2, opt="sgd") + trials("imported", 1)
    assert texts(trials("failed", 8, opt="broken"), others, running) == [
        "All 8 failed trials have opt = broken. None of the 23 others has it."
    ]


def test_one_successful_trial_with_the_value_is_enough_to_deny_it() -> None:
    others = trials("complete", 31, opt="adam") + trials("complete", 1, opt="broken")
    assert texts(trials("failed", 8, opt="broken"), others) == [
        "The 8 failed trials share no parameter value that none of the 32 others has, and no range of "
        "numbers that chance would not explain. Nor do those of them that failed in the same way."
    ]


def test_nothing_is_said_without_failed_trials_and_nothing_is_known_of_few() -> None:
    assert texts(trials("complete", 5, opt="adam")) == []
    assert texts(trials("failed", 5, opt="adam")) == [
        "5 failed trials and 0 others are too few to tell whether a parameter makes trials fail."
    ]
    assert texts([]) == []


def test_trials_that_failed_in_one_way_are_compared_with_all_others() -> None:
    others = [{"state": "complete", "params": {"width": width}} for width in range(35)]
    nan = {"state": "failed", "params": {"width": 17}, "failure": {"reason": "not_finite"}}
    exits = [
        {"state": "failed", "params": {"width": width}, "failure": {"reason": "exit", "code": 3}}
        for width in range(61, 65)
    ]
    (text,) = texts([*others, nan, *exits])
    assert text.startswith(
        "All 4 trials that failed in one way (exit code 3) have width 61 or more, and the 36 others have at "
        "most 34."
    )
