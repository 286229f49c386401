"""How a recorder ends its files, and values that name their step."""

import gc
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import SummaryRecord


def endings(reading: Any) -> Any:
    """Of each file, whether its last event closes it, and with which error; no other event may."""
    closings = []
    for events in reading.files_events():
        closing = [event.HasField("closing") for event in events]
        assert not any(closing[:-1])
        closings.append((closing[-1], events[-1].closing.error))
    return closings


def test_a_closed_file_says_so_with_its_last_record(reading: Any) -> None:
    before = time.time()
    with SummaryRecord(reading.directory) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        record.flush()
        assert endings(reading) == [(False, "")]
    assert endings(reading) == [(True, "")]
    assert before <= reading.files_events()[0][-1].wall_time <= time.time()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("the loss is nan\nat step 3"), "ValueError: the loss is nan"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (RuntimeError("x" * 300), "RuntimeError: " + "x" * 186),
        (UnicodeError("\ud800"), "UnicodeError: \\ud800"),
        (SystemExit(0), ""),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_what_ended_the_training_is_in_the_closing_record(reading: Any, error: Any, text: Any) -> None:
    with pytest.raises(type(error)), SummaryRecord(reading.directory) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        raise error
    assert endings(reading) == [(True, text)]


def test_only_the_last_of_several_files_is_closed_and_the_limit_holds(reading: Any) -> None:
    with SummaryRecord(reading.directory, max_file_size=200) as record:
        for step in range(20):
            record.add_value("scalar", "loss", step)
            record.record(step)
    *earlier, last = endings(reading)
    assert [closed for closed, _ in earlier] == [False] * len(earlier)
    assert last == (True, "")
    assert all(path.stat().st_size <= 200 for path in reading.files())


def test_a_recorder_that_recorded_nothing_leaves_no_file(reading: Any) -> None:
    SummaryRecord(reading.directory).close()
    assert reading.files() == []


def test_a_recorder_that_nobody_closed_leaves_a_file_without_an_end(reading: Any) -> None:
    record = SummaryRecord(reading.directory)
    record.add_value("scalar", "loss", 0.5)
    record.record(1)
    del record
    gc.collect()
    assert endings(reading) == [(False, "")]
    assert reading.files()[0].stat().st_mode & 0o777 == 0o600


def test_a_run_that_was_removed_is_not_made_again_to_close_it(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        record.flush()
        shutil.rmtree(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_threads_that_name_the_step_do_not_take_each_others_values(reading: Any) -> None:
    def train(tag: Any) -> None:
        for step in range(200):
            record.add_value("scalar", tag, float(step), step=step)

    with SummaryRecord(reading.directory) as record:
        threads = [threading.Thread(target=train, args=(tag,)) for tag in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(reading.scalars()) == sorted((step, tag, step) for tag in "abcd" for step in range(200))


def test_a_value_with_a_step_leaves_what_is_collected(reading: Any) -> None:
    with SummaryRecord(reading.directory) as record:
        record.add_value("scalar", "loss", 0.5)
        for kind in ("image", "tensor", "histogram"):
            record.add_value(kind, kind, np.ones((1, 1, 2, 3), np.float32), step=7)
        record.add_value("scalar", "accuracy", np.float32(0.25), step=np.int64(7))  # type: ignore[arg-type]
        record.record(1)
    assert [(step, value.tag) for step, value in reading.values()] == [
        (7, "image"), (7, "tensor"), (7, "histogram"), (7, "accuracy"), (1, "loss"),
    ]  # fmt: skip


@pytest.mark.parametrize("step", [True, 1.5, "1", 1 << 63])
def test_the_step_of_a_value_is_a_step(tmp_path: Path, step: Any) -> None:
    with SummaryRecord(tmp_path) as record, pytest.raises((TypeError, ValueError), match="step"):
        record.add_value("scalar", "loss", 0.5, step=step)


def test_after_close_nothing_is_recorded_and_that_is_said(
    tmp_path: Path, reading: Any, caplog: pytest.LogCaptureFixture
) -> None:
    record = SummaryRecord(str(tmp_path))
    record.add_value("scalar", "s", 1.0)
    record.record(1)
    record.close()
    record.close()
    record.add_value("scalar", "s", 2.0)
    assert record.record(2) is False
    record.flush()
    assert reading.scalars() == [(1, "s", 1.0)]
    record.alert("too late")
    record.add_value("scalar", "s", 2.0, step=3)
    (message,) = caplog.messages
    assert message.startswith("'s' is not recorded: the recorder of ")
    with pytest.raises(ValueError, match="closed"), record:
        pass
