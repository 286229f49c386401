"""How often a costly measurement is due, by what it costs."""

import pytest

from mindinsight.writer.recorders.flight_recorder import Schedule

SHARE = 0.005  # of the training's time


def watched_steps(cost: float, steps: int = 2000, suspected: bool = False) -> list[int]:
    """Return the steps that are watched if each takes ``cost`` times a step."""
    schedule, watched = Schedule(None, SHARE, soonest=10), []
    for step in range(steps):
        if schedule.due(step, suspected):
            watched.append(step)
            schedule.measured(step, cost)
        schedule.passed(1.0)
    return watched


@pytest.mark.parametrize("cost", [0.01, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("suspected", [False, True])
def test_watching_takes_no_more_than_its_share(cost: float, suspected: bool) -> None:
    watched = watched_steps(cost, suspected=suspected)
    assert watched[0] == 0 and len(watched) > 3
    assert len(watched) * cost <= SHARE * 2000 + 8 * cost


def test_a_cheap_watch_is_every_ten_steps_and_a_suspicion_comes_first() -> None:
    assert watched_steps(0.01)[:3] == [0, 10, 20]
    assert watched_steps(0.5, 5, suspected=True) == [0, 1, 2, 3, 4]


def test_a_number_of_steps_that_was_given_holds() -> None:
    schedule = Schedule(5, SHARE, soonest=10)
    assert [step for step in range(12) if schedule.due(step, suspected=False)] == [0, 5, 10]
    assert schedule.due(3, suspected=True)


def test_time_that_was_spent_otherwise_delays_the_next_measurement() -> None:
    schedule = Schedule(None, SHARE, soonest=10)
    schedule.measured(0, 0.02)
    schedule.spent(0.1)
    due = []
    for step in range(1, 100):
        due += [step] if schedule.due(step) else []
        schedule.passed(1.0)
    assert due[0] == 21  # 0.1 s are 0.5 % of 20 steps
