"""The queue and its thread, with a disk that obeys the test."""

import errno
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.encoding import scalars
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.files import event_queue
from mindinsight.writer.files.event_queue import DroppedValues, EventQueue
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
        self.ready.wait(60)
        if self.full and records:
            return 0, OSError(errno.ENOSPC, "No space left on device")
        self.records += records
        return len(records), None

    def sync(self) -> None:
        pass

    def close(self, ended: bool = True) -> None:
        pass


@pytest.fixture
def disk() -> Any:
    return Disk()


@pytest.fixture
def make(disk: Any) -> Iterator[Any]:
    made = []

    def make_file(flush_seconds: Any = 3600.0, queue_bytes: Any = 1 << 20, **options: Any) -> Any:
        lineage: Any = Disk()
        made.append(EventQueue(disk, lineage, flush_seconds, queue_bytes, **options))
        return made[-1]

    yield make_file
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
    assert disk.requested.wait(60)


def test_much_is_not_left_waiting(make: Any, disk: Any) -> None:
    file = make(queue_bytes=1 << 30)
    file.put(job(1, cost=2 << 20))
    assert disk.requested.wait(60)


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


def test_a_disk_that_hangs_is_waited_for_within_a_limit(
    make: Any, disk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_queue, "STALLED", 0.2)
    file = make(queue_bytes=1000)
    disk.ready.clear()
    file.put(job(0))
    file.flush()
    for step in range(1, 40):
        file.put(job(step))
    file.close()
    assert not disk.records
    assert sum("is not waited for" in record.getMessage() for record in caplog.records) == 2
    disk.ready.set()
    assert until(lambda: disk.records)


def test_a_disk_that_is_slow_but_takes_something_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, written = itertools.count(0, 100), iter([*[0] * 5, *[1] * 5])  # a time each 100 s, and a write
    monkeypatch.setattr(event_queue, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    hung, slow = (list(event_queue.patiently(progress)) for progress in (lambda: 0, lambda: next(written, 1)))
    assert len(slow) >= len(hung) + 4


def without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads get their stack, and then no memory for their first call."""
    monkeypatch.setattr(event_queue, "_START", 0.05)
    monkeypatch.setattr(threading.Thread, "_bootstrap", lambda self: None)


def test_a_thread_that_does_not_begin_is_tried_again_and_loses_nothing(
    make: Any, disk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = make(flush_seconds=0.2)
    with monkeypatch.context() as patch:
        without_threads(patch)
        file.put(job(0))
        file.put(job(1))  # too early for another attempt
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "does not begin; trying again every 0.2 s" in caplog.text
    assert "does not begin" in str(file.take_failure())
    assert not disk.records
    assert until(lambda: (file.flush(), len(disk.records) == 2)[1])


def test_what_waits_for_a_thread_is_written_at_the_end(
    make: Any, disk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make()
    without_threads(monkeypatch)
    file.put(job(0))
    file.close()
    assert len(disk.records) == 1


def test_put_waits_for_a_slow_disk_and_says_so_once(
    make: Any, disk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    file = make(queue_bytes=1000)
    disk.ready.clear()
    putting = threading.Thread(target=lambda: [file.put(job(step)) for step in range(40)])
    putting.start()
    assert disk.requested.wait(60)
    assert putting.is_alive()
    disk.ready.set()
    putting.join(60)
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
    monkeypatch.setattr(scalars, "LARGEST_EVENT", 100)
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


def test_what_was_dropped_is_told_once_with_tag_and_step(caplog: pytest.LogCaptureFixture) -> None:
    dropped = DroppedValues()
    dropped.add("disk full", [("loss", 3)])
    dropped.log()
    dropped.log()
    assert [record.getMessage() for record in caplog.records] == ["not recorded: 'loss' of step 3: disk full"]


def test_many_steps_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    dropped = DroppedValues()
    for step in range(5, 90):
        dropped.add("disk full", [("loss", step), ("acc", step)])
    dropped.log()
    (record,) = caplog.records
    assert "85 values of 'loss' from step 5 to 89; 85 values of 'acc'" in record.getMessage()


def test_each_reason_has_its_line(caplog: pytest.LogCaptureFixture) -> None:
    dropped = DroppedValues()
    dropped.add("one", [("a", 1)])
    dropped.add("two", [("a", 1)])
    dropped.log()
    assert len(caplog.records) == 2


def test_nothing_dropped_is_nothing_said(caplog: pytest.LogCaptureFixture) -> None:
    DroppedValues().log()
    assert not caplog.records


START = """
import multiprocessing, os, sys, threading
from mindinsight.writer import SummaryRecord
directory = sys.argv[1]

def put(record, tag, step):
    record.add_value("scalar", tag, step)
    record.record(step)
"""


def run(script: Any, directory: Any, **environment: Any) -> tuple[Any, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", START + textwrap.dedent(script), str(directory)],
        capture_output=True, text=True, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def tags_and_steps(reading: Any) -> list[Any]:
    return sorted((tag, step) for step, tag, _ in reading.scalars())


@pytest.mark.parametrize(
    ("ending", "code"), [("", 0), ("sys.exit(0)", 0), ("sys.exit(3)", 3), ("record = None", 0)]
)
def test_a_recorder_that_was_not_closed_writes_everything_and_no_end(
    tmp_path: Path, reading: Any, ending: str, code: int
) -> None:
    status, errors = run(f"record = SummaryRecord(directory); put(record, 's', 1)\n{ending}", tmp_path)
    assert (status, errors) == (code, "")
    assert tags_and_steps(reading) == [("s", 1)]
    assert not reading.files_events()[0][-1].HasField("closing")
    assert reading.files()[0].stat().st_mode & 0o777 == 0o600


def test_an_exception_in_the_loop_costs_nothing(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        with SummaryRecord(directory) as record:
            put(record, "s", 1)
            raise ArithmeticError("in the loop")
    """, tmp_path)  # fmt: skip
    assert status == 1
    assert "in the loop" in errors
    assert tags_and_steps(reading) == [("s", 1)]


@pytest.mark.parametrize(("interactive", "expected"), [(False, "ArithmeticError: in the loop"), (True, "")])
def test_an_uncaught_exception_is_what_ended_the_training(
    tmp_path: Path, reading: Any, interactive: bool, expected: str
) -> None:
    """Nobody closed the recorder: of an exception in a session it is not known whether it ended anything."""
    status, _ = run(f"""
        if {interactive}:
            sys.ps1 = ">>> "
        def train():
            record = SummaryRecord(directory)
            put(record, "s", 1)
            raise ArithmeticError("in the loop")
        train()
    """, tmp_path)  # fmt: skip
    assert status == 1
    (events,) = reading.files_events()
    assert events[-1].closing.error == expected


def test_a_forked_child_leaves_the_parents_file_and_values_alone(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.flush()
        put(record, "parent", 2)
        record.add_value("scalar", "parent", 3)
        child = multiprocessing.get_context("fork").Process(target=int)
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join()
        record.record(3)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("parent", 1), ("parent", 2), ("parent", 3)]
    assert len(reading.files()) == 1


def test_what_a_forked_child_records_gets_a_file_of_its_own(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        def work(record):
            put(record, "child", 10)

        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.flush()
        child = multiprocessing.get_context("fork").Process(target=work, args=(record,))
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join()
        put(record, "parent", 2)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("child", 10), ("parent", 1), ("parent", 2)]
    assert len(reading.files()) == 2


def test_a_bare_fork_that_exits_normally_writes_what_it_recorded(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.close()
        if os.fork() == 0:
            record = SummaryRecord(directory)
            put(record, "child", 2)
            sys.exit(0)
        os.wait()
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("child", 2), ("parent", 1)]


def test_several_processes_in_one_directory_share_no_file(tmp_path: Path, reading: Any) -> None:
    script = "record = SummaryRecord(directory)\nfor step in range(50): put(record, f's{os.getpid()}', step)"
    command = [sys.executable, "-c", START + script, str(tmp_path)]
    for process in [subprocess.Popen(command) for _ in range(4)]:
        assert process.wait() == 0
    assert len(reading.files()) == 4
    steps: dict[Any, Any] = {}
    for step, tag, _ in reading.scalars():
        steps.setdefault(tag, []).append(step)
    assert [sorted(numbers) for numbers in steps.values()] == [list(range(50))] * 4


def test_each_rank_of_a_launcher_writes_into_its_directory(tmp_path: Path, reading_of: Any) -> None:
    for rank in ("0", "1"):
        status, _ = run("put(SummaryRecord(directory), 's', 1)", tmp_path, RANK=rank, WORLD_SIZE="2")
        assert status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rank_0", "rank_1"]
    (path,) = reading_of(tmp_path / "rank_1").files()
    assert path.name.split(".")[5] == "1"


def test_a_restart_appends_a_file_to_the_run(tmp_path: Path, reading: Any) -> None:
    for first in (0, 5):
        run(f"record = SummaryRecord(directory)\nfor i in range(5): put(record, 's', {first} + i)", tmp_path)
    assert [step for step, _, _ in reading.scalars()] == list(range(10))
    assert len(reading.files()) == 2


def test_values_of_several_threads_are_all_recorded(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        def work(name):
            for step in range(3000):
                put(record, name, step)
        threads = [threading.Thread(target=work, args=(f"t{index}",)) for index in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        record.record(3000)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    numbers: dict[Any, Any] = {}
    for _, tag, number in reading.scalars():
        numbers.setdefault(tag, []).append(number)
    assert {tag: sorted(values) for tag, values in numbers.items()} == {
        f"t{index}": list(range(3000)) for index in range(4)
    }


def test_recording_scalars_loads_no_protobuf_and_no_framework(tmp_path: Path) -> None:
    status, errors = run("""
        put(SummaryRecord(directory), "s", 1)
        loaded = [name for name in ("google.protobuf", "mindspore", "torch", "jax") if name in sys.modules]
        assert loaded == [], loaded
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
