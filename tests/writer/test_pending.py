"""Values wait for their step, and become the jobs that the background writes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item, TooLarge
from mindinsight.writer.files.event_queue import EventQueue
from mindinsight.writer.pending import Pending, StepQueue


def kinds(jobs: Any) -> list[Any]:
    return [[item.kind for item in items] + tags[::2] for _, _, tags, items, _ in jobs]


def test_what_was_collected_is_one_job_and_is_taken_once() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    pending.add("TENSOR", "x", np.ones(3))
    (job,) = pending.take(7, 1.5)
    assert job[:3] == (7, 1.5, ["loss", 0.5])
    assert kinds([job]) == [["tensor", "loss"]]
    assert pending.take(8, 2.5) == []


def test_messages_are_jobs_of_their_own() -> None:
    pending = Pending()
    pending.add("custom_lineage_data", "facts", {"lr": 0.1})
    pending.add("scalar", "loss", 0.5)
    assert kinds(pending.take(1, 0.0)) == [["custom_lineage_data"], ["loss"]]


def test_a_filter_chooses_kinds_and_the_rest_is_forgotten() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    pending.add("tensor", "x", np.ones(3))
    assert kinds(pending.take(1, 0.0, lambda kind: kind == "tensor")) == [["tensor"]]
    assert pending.take(2, 0.0) == []


def test_a_single_job_leaves_what_is_collected() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    assert kinds([pending.single_job(3, 0.0, "scalar", "accuracy", 0.25)]) == [["accuracy"]]
    assert kinds([pending.single_job(3, 0.0, "image", "picture", np.zeros((1, 1, 2, 2)))]) == [["image"]]
    assert kinds(pending.take(4, 0.0)) == [["loss"]]


def test_a_step_takes_no_more_than_a_message_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.writer.pending.LARGEST_EVENT", 1000)
    pending = Pending()
    pending.add("tensor", "x", np.ones(100, np.float32))
    with pytest.raises(TooLarge):
        pending.add("tensor", "y", np.ones(200, np.float32))
    assert [tag for _, tag in pending.refused] == ["y"]
    assert kinds(pending.take(1, 0.0)) == [["tensor"]]
    pending.add("tensor", "z", np.ones(100, np.float32))  # the next step has all the room again


def test_an_unknown_kind_is_refused() -> None:
    for plugin in ("video", None, 3):
        with pytest.raises(ValueError, match="plugin must be one of scalar, image"):
            Pending().add(plugin, "x", 1)


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
    return lambda strict=False: StepQueue(cast(EventQueue, events), Pending(), strict)


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
