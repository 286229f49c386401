import pytest

from mindinsight.writer.files.dropped_values import DroppedValues


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
