"""Values go from the loop to the thread that writes, under a step or alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item, TooLarge
from mindinsight.writer.files.event_file import EventFile
from mindinsight.writer.pending import Pending
from mindinsight.writer.step_queue import StepQueue


@dataclass
class Recorded:
    """Stands for the thread that writes."""

    jobs: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[list[tuple[str, int]]] = field(default_factory=list)
    woken: int = 0

    def put(self, job: tuple[Any, ...]) -> None:
        self.jobs.append(job)

    def drop(self, _reason: str, values: list[tuple[str, int]]) -> None:
        self.dropped.append(values)

    def wake(self) -> None:
        self.woken += 1


@pytest.fixture
def events() -> Recorded:
    return Recorded()


@pytest.fixture
def queue_of(events: Recorded) -> Callable[..., StepQueue]:
    return lambda strict=False: StepQueue(cast(EventFile, events), Pending(), strict)


def too_large() -> np.ndarray:
    return np.broadcast_to(np.float32(1), (LARGEST_EVENT // 4 + 1,))


def test_what_is_collected_goes_under_its_step(queue_of: Callable[..., StepQueue], events: Recorded) -> None:
    queue = queue_of()
    queue.collect("scalar", "loss", 0.5)
    assert events.jobs == []
    queue.put_step(7, None)
    queue.put_step(8, None)
    assert [(job[0], job[2]) for job in events.jobs] == [(7, ["loss", 0.5])]


def test_a_value_alone_leaves_what_is_collected(queue_of: Callable[..., StepQueue], events: Recorded) -> None:
    queue = queue_of()
    queue.collect("scalar", "loss", 0.5)
    queue.put_value(3, 12.5, "scalar", "lr", 0.1)
    queue.put_step(4, None)
    assert [job[:3] for job in events.jobs[:1]] == [(3, 12.5, ["lr", 0.1])]
    assert events.jobs[1][2] == ["loss", 0.5]


def test_what_is_too_large_is_dropped_with_its_step(
    queue_of: Callable[..., StepQueue], events: Recorded
) -> None:
    queue = queue_of()
    queue.collect("tensor", "weights", too_large())
    queue.put_step(5, None)
    queue.put_value(6, None, "tensor", "gradients", too_large())
    assert (events.jobs, events.dropped) == ([], [[("weights", 5)], [("gradients", 6)]])


def test_what_is_too_large_is_raised_when_strict(
    queue_of: Callable[..., StepQueue], events: Recorded
) -> None:
    queue = queue_of(strict=True)
    with pytest.raises(TooLarge):
        queue.collect("tensor", "weights", too_large())
    with pytest.raises(TooLarge):
        queue.put_value(6, None, "tensor", "gradients", too_large())
    assert events.dropped == [[("gradients", 6)]]


def test_an_item_at_once_wakes_the_writer(queue_of: Callable[..., StepQueue], events: Recorded) -> None:
    item = Item("text", "alert", b"x")
    queue_of().put_at_once(9, item, 1)
    assert ([(job[0], job[3]) for job in events.jobs], events.woken) == ([(9, (item,))], 1)


def test_a_child_process_forgets_what_its_parent_collected(
    queue_of: Callable[..., StepQueue], events: Recorded
) -> None:
    queue = queue_of()
    queue.collect("scalar", "loss", 0.5)
    queue.forget()
    queue.put_step(1, None)
    assert events.jobs == []
