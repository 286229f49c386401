from typing import Any

import pytest

from mindinsight.writer.collector.schedule import Schedule, everything


def collected(schedule: Any, plugin: Any, last: Any) -> list[Any]:
    """The counts up to ``last`` at which ``plugin`` is recorded."""
    wanted = [(count, schedule.plugins_at(count)) for count in range(1, last + 1)]
    return [count for count, plugins in wanted if plugins and plugins(plugin)]


def test_everything_but_tensors_comes_at_multiples() -> None:
    assert collected(Schedule(10, 7, None), "scalar", 35) == [10, 20, 30]


@pytest.mark.parametrize(
    ("every", "tensor_every", "total", "steps"),
    [
        (10, 7, None, [7, 14, 21, 28, 35]),
        (10, None, None, [10, 20, 30, 40]),
        (10, None, 40, [10, 20, 30, 40]),
        (1, None, 40, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38]),
        (1, None, 30, list(range(1, 21))),
        (1, None, 19, list(range(1, 41))),
    ],
)
def test_tensors_come_at_their_own_steps(every: int, tensor_every: Any, total: Any, steps: Any) -> None:
    assert collected(Schedule(every, tensor_every, total), "tensor", 40) == steps


@pytest.mark.parametrize("total", [100, 1000, 12345])
def test_tensors_come_at_most_twenty_times(total: int) -> None:
    assert 15 <= len(collected(Schedule(1, None, total), "tensor", total)) <= 20


def test_the_first_step_has_everything() -> None:
    assert everything("tensor")
    assert everything("scalar")
