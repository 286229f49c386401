"""The queue and its thread, with a disk that obeys the test."""

import errno
import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.encoding import jobs
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.files.event_file import EventFile
from tests.waiting import until


class Disk:
    """Takes records as RecordFile does, or refuses, or makes the thread wait."""

    path = "disk"

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.full = False
        self.ready = threading.Event()
        self.ready.set()
        self.requested = threading.Event()

    def append(self, records: Any) -> Any:
        self.requested.set()
        self.ready.wait(10)
        if self.full and records:
            return 0, OSError(errno.ENOSPC, "No space left on device")
        self.records += records
        return len(records), None

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def disk() -> Any:
    return Disk()


@pytest.fixture
def make(disk: Any) -> Iterator[Any]:
    made = []

    def event_file(flush_seconds: Any = 3600.0, queue_bytes: Any = 1 << 20, **options: Any) -> Any:
        lineage: Any = Disk()
        made.append(EventFile(disk, lineage, flush_seconds, queue_bytes, **options))
        return made[-1]

    yield event_file
    disk.ready.set()
    for file in made:
        file.close()


def job(step: Any, cost: Any = 100, tag: Any = "loss") -> Any:
    return (step, 1.0, [tag, 0.5], (), cost)


def test_the_thread_begins_long_before_the_time_it_has_is_over(
    make: Any, disk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three quarters are left for the work, and for a machine under load."""
    waits: list[float] = []
    wait = threading.Event.wait

    def noted(event: threading.Event, timeout: float | None = None) -> bool:
        if event is file._wake:
            waits.append(timeout or 0.0)
            return wait(event, 0.01)
        return wait(event, timeout)

    file = make(flush_seconds=2.0)
    monkeypatch.setattr(threading.Event, "wait", noted)
    file.put(job(1))
    assert wait(disk.requested, 10)
    assert max(waits) <= 0.5
    file.flush()
    assert len(disk.records) == 1


def test_a_store_gets_its_files_no_more_often_than_before(make: Any, disk: Any) -> None:
    """Each time it takes a whole file anew."""
    times: list[float] = []
    disk.sync = lambda: times.append(time.monotonic())
    file = make(flush_seconds=0.4)
    for step in range(60):
        file.put(job(step))
        time.sleep(0.02)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(gaps) >= 1 and min(gaps) >= 0.3
    file.wake()
    assert until(lambda: len(disk.records) == 60)


def test_a_queued_job_is_on_disk_after_flush(make: Any, disk: Any) -> None:
    file = make()
    file.put(job(1))
    assert disk.records == []
    file.flush()
    assert len(disk.records) == 1


def test_it_is_on_disk_by_itself_after_flush_seconds(make: Any, disk: Any) -> None:
    make(flush_seconds=0.01).put(job(1))
    assert disk.requested.wait(10)


def test_much_is_not_left_waiting(make: Any, disk: Any) -> None:
    file = make(queue_bytes=1 << 30)
    file.put(job(1, cost=2 << 20))
    assert disk.requested.wait(10)


def test_flush_and_close_without_jobs_touch_nothing(make: Any, disk: Any) -> None:
    file = make()
    file.flush()
    file.close()
    assert not disk.requested.is_set()


def test_close_writes_what_is_queued(make: Any, disk: Any) -> None:
    file = make()
    for step in range(1000):
        file.put(job(step))
    file.close()
    assert len(disk.records) == 1000


def test_put_waits_for_a_slow_disk_and_says_so_once(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make(queue_bytes=1000)
    disk.ready.clear()
    putting = threading.Thread(target=lambda: [file.put(job(step)) for step in range(40)])
    putting.start()
    assert disk.requested.wait(10)
    assert putting.is_alive()
    disk.ready.set()
    putting.join(10)
    file.flush()
    assert len(disk.records) == 40
    assert [record.getMessage().count("waits") for record in caplog.records] == [1]


def test_one_job_larger_than_the_queue_passes_alone(make: Any, disk: Any) -> None:
    file = make(queue_bytes=1000)
    file.put(job(1, cost=5000))
    file.put(job(2, cost=5000))
    file.flush()
    assert len(disk.records) == 2


def test_a_full_disk_is_tried_again_and_nothing_is_lost(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make(flush_seconds=0.01)
    disk.full = True
    file.put(job(1))
    file.flush()
    assert isinstance(file.take_failure(), OSError)
    assert disk.records == []
    disk.full = False
    file.put(job(2))
    file.flush()
    assert len(disk.records) == 2
    assert file.failure is None
    assert "No space left" in caplog.text


def test_past_the_limit_a_full_disk_costs_values_that_are_named(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make(queue_bytes=1000)
    disk.full = True
    for step in range(20):
        file.put(job(step, tag="acc"))
    file.close()
    assert disk.records == []
    assert "10 values of 'acc' from step 10 to 19: the queue is full" in caplog.text
    assert "10 values of 'acc' from step 0 to 9: closed while the disk refused it" in caplog.text


def test_one_value_that_cannot_be_encoded_leaves_the_others(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make()
    file.put((7, 1.0, ["loss", 0.5], [Item("image", "bad", "no array")], 100))  # type: ignore[arg-type]
    file.put(job(8))
    file.flush()
    assert len(disk.records) == 2
    assert file.take_failure() is not None
    assert "'bad' of step 7" in caplog.text


def test_a_step_with_nothing_left_is_no_record(make: Any, disk: Any) -> None:
    file = make()
    file.put((7, 1.0, [], [Item("image", "bad", "no array")], 100))  # type: ignore[arg-type]
    file.flush()
    assert disk.records == []


def test_an_export_that_fails_does_not_stop_the_event(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(item: Any, step: Any) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    file = make(export=refuse)
    file.put((7, 1.0, [], [Item("landscape", "l", b"")], 100))
    file.flush()
    assert len(disk.records) == 1
    assert "'l' of step 7" in caplog.text


def test_jobs_are_told_when_they_are_on_disk(make: Any, disk: Any) -> None:
    finished: list[Any] = []
    file = make(done=finished.extend)
    disk.full = True
    file.put(job(1))
    file.flush()
    assert finished == []
    disk.full = False
    file.flush()
    assert finished == [job(1)]


def test_a_full_disk_is_said_once(make: Any, disk: Any, caplog: pytest.LogCaptureFixture) -> None:
    file = make()
    disk.full = True
    file.put(job(1))
    for _ in range(3):
        file.flush()
        file.take_failure()
    assert caplog.text.count("No space left") == 1


def test_after_close_a_job_is_told_and_not_kept(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make()
    file.close()
    file.put(job(1))
    file.close()
    assert disk.records == []
    assert "'loss' of step 1" in caplog.text


def test_an_event_too_large_for_a_message_is_told(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LARGEST_EVENT", 100)
    file = make()
    file.put((3, 1.0, [], [Item("tensor", "huge", np.zeros(100, np.float32), "float32")], 400))
    file.put(job(4))
    file.flush()
    assert len(disk.records) == 1
    assert "'huge' of step 3" in caplog.text


def test_an_unforeseen_failure_keeps_the_thread_alive_and_is_told(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make()
    file.put((1, 1.0, ["loss", "no number"], (), 100))
    file.flush()
    file.put(job(2))
    file.flush()
    assert len(disk.records) == 1
    assert "'loss' of step 1" in caplog.text
