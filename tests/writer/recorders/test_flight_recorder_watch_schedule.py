"""How often modules are watched, by what it costs."""

import pytest

from mindinsight.writer.recorders.flight_recorder import WatchSchedule


def watched_steps(cost: float, steps: int = 2000, suspected: bool = False) -> list[int]:
    """Return the steps that are watched if each takes ``cost`` times a step."""
    schedule, watched = WatchSchedule(None), []
    for step in range(steps):
        if schedule.due(step, suspected):
            watched.append(step)
            schedule.watched(step, cost)
        schedule.passed(1.0)
    return watched


@pytest.mark.parametrize("cost", [0.01, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("suspected", [False, True])
def test_watching_takes_no_more_than_its_share(cost: float, suspected: bool) -> None:
    watched = watched_steps(cost, suspected=suspected)
    assert watched[0] == 0 and len(watched) > 3
    assert len(watched) * cost <= 0.008 * 2000 + 8 * cost


def test_a_cheap_watch_is_every_ten_steps_and_a_suspicion_comes_first() -> None:
    assert watched_steps(0.01)[:3] == [0, 10, 20]
    assert watched_steps(0.5, 5, suspected=True) == [0, 1, 2, 3, 4]


def test_a_number_of_steps_that_was_given_holds() -> None:
    schedule = WatchSchedule(5)
    assert [step for step in range(12) if schedule.due(step, suspected=False)] == [0, 5, 10]
    assert schedule.due(3, suspected=True)
