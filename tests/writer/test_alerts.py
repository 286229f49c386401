"""Alerts: written at once, at their step, whatever else the recorder does; and no others are hurt by them."""

import logging
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from mindinsight.proto.summary_pb2 import Alert, Summary
from mindinsight.writer import SummaryRecord
from mindinsight.writer.alerts import AlertThrottle
from tests.waiting import until
from tests.writer.tensorboard_messages import message_class


def alerts_of(reading: Any) -> Any:
    return [(event.step, event.alert.title) for event in reading.events() if event.HasField("alert")]


def test_an_alert_comes_back_as_given(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        assert record.alert("loss is rising", "0.5 → 0.9", level="error", step=7) is True
    (event,) = reading.events()
    assert (event.step, event.alert) == (7, Alert(title="loss is rising", text="0.5 → 0.9", level="ERROR"))
    assert event.wall_time > 1.6e9


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_every_level_is_kept(tmp_path: Path, reading: Any, level: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        record.alert("a", level=level)
    assert reading.events()[0].alert.level == Alert.Level.Value(level.upper())


def test_without_a_step_it_belongs_to_the_last_recorded_one(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        record.alert("before any")
        record.add_value("scalar", "loss", 1.0)
        record.record(12)
        record.alert("after")
    assert alerts_of(reading) == [(0, "before any"), (12, "after")]


def test_it_is_in_the_file_without_flush_or_record(tmp_path: Path, reading: Any) -> None:
    record = SummaryRecord(tmp_path, flush_seconds=3600)
    record.add_value("scalar", "loss", 1.0)
    record.alert("now")
    until(lambda: any(b"now" in path.read_bytes() for path in reading.files()))
    record.close()
    assert alerts_of(reading) == [(0, "now")]


def test_what_was_collected_keeps_waiting_for_its_step(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", 1.0)
        record.alert("between", step=3)
        record.record(4, plugin_filter=lambda plugin: plugin == "scalar")
    assert alerts_of(reading) == [(3, "between")]
    assert reading.scalars() == [(4, "loss", 1.0)]


def test_the_same_alert_in_every_step_is_recorded_once_in_a_while(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        answers = [record.alert("nan", f"{step}", step=step) for step in range(100)]
        record.alert("nan", level="error", step=100)
        record.alert("nan", step=101, wait_seconds=0)
    assert answers == [True] + 99 * [False]
    assert alerts_of(reading) == [(0, "nan"), (100, "nan"), (101, "nan")]


def test_the_time_between_equal_alerts_begins_with_the_one_that_was_said() -> None:
    throttle = AlertThrottle()
    times = [0.0, 30.0, 59.9, 60.0, 100.0, 120.0]
    assert [throttle.holds_back("a", "info", now, 60.0) for now in times] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    assert not throttle.holds_back("b", "info", 121.0, 60.0)


def test_ever_new_titles_take_no_memory_for_ever() -> None:
    throttle = AlertThrottle()
    assert not any(throttle.holds_back(f"loss is {number}", "info", 0.0, 60.0) for number in range(5000))
    assert throttle.holds_back("loss is 4999", "info", 1.0, 60.0)
    assert not throttle.holds_back("loss is 0", "info", 1.0, 60.0)


def test_long_texts_are_cut(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        record.alert("权" * 300, "b" * 20_000)
    (event,) = reading.events()
    assert (event.alert.title, event.alert.text) == ("权" * 200, "b" * 10_000)


def test_what_cannot_be_as_given_is_made_to_fit_and_said(
    tmp_path: Path, reading: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryRecord(tmp_path) as record:
        record.alert(ValueError("no\ud800"), None, level="fatal", step="nine")  # type: ignore[arg-type]
        record.alert("list", level=["error"], step=1 << 70)  # type: ignore[arg-type]
    first, second = reading.events()
    assert first.alert == Alert(title="no\\ud800", text="None", level="WARNING")
    assert (first.step, second.step) == (0, 0)
    assert second.alert.level == Alert.WARNING
    assert "'fatal'" in caplog.text
    assert "at step 0" in caplog.text


def test_after_close_it_is_not_recorded_and_that_is_said(
    tmp_path: Path, reading: Any, caplog: pytest.LogCaptureFixture
) -> None:
    record = SummaryRecord(tmp_path)
    record.close()
    assert record.alert("too late") is False
    assert "'too late' is not recorded" in caplog.text
    assert reading.files() == []


def test_a_disk_that_refuses_stops_no_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = SummaryRecord(tmp_path / "run")
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("in the way")
    assert record.alert("nobody hears") is True
    record.close()
    assert "'nobody hears' of step 0" in caplog.text
    assert any(entry.levelno == logging.ERROR for entry in caplog.records)


def old_event() -> Any:
    """The message Event as tools know it that have never heard of alerts."""
    kinds = descriptor_pb2.FieldDescriptorProto
    fields = {
        "wall_time": kinds.TYPE_DOUBLE, "step": kinds.TYPE_INT64, "version": kinds.TYPE_STRING,
        "graph_def": kinds.TYPE_BYTES, "summary": kinds.TYPE_BYTES, "explain": kinds.TYPE_BYTES,
    }  # fmt: skip
    file = descriptor_pb2.FileDescriptorProto(name="old.proto", package="old", syntax="proto2")
    message = file.message_type.add(name="Event")
    for number, (name, kind) in enumerate(fields.items(), 1):
        message.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_class(pool.FindMessageTypeByName("old.Event"))


def test_a_reader_of_before_reads_everything_else(tmp_path: Path, reading: Any, records_of: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        for step in range(3):
            record.add_value("scalar", "loss", float(step))
            record.alert(f"at {step}", step=step)
            record.record(step)
    (path,) = reading.files()
    event = old_event()
    events = [event.FromString(payload) for payload in records_of(path)[0]]
    assert [event.step for event in events] == [0, 0, 0, 1, 1, 2, 2, 0]  # the last one closes the file
    summaries = [Summary.FromString(event.summary) for event in events if event.HasField("summary")]
    assert [summary.value[0].scalar_value for summary in summaries] == [0, 1, 2]
    assert [event.version for event in events if event.HasField("version")] == ["MindSpore.Event:1"]


def test_the_dump_of_an_alert_is_relative_to_the_directory_of_its_file(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(tmp_path) as record:
        record.alert("below", dump=tmp_path / "flight_dump")
        record.alert("beside", dump=str(tmp_path.parent / "other"))
        record.alert("no path", dump=7)  # type: ignore[arg-type]
    dumps = [event.alert.dump for event in reading.events() if event.HasField("alert")]
    assert dumps == ["flight_dump", "../other", ""]
