from mindinsight.writer.losses import Losses


def test_what_was_dropped_is_told_once_with_tag_and_step(caplog):
    losses = Losses()
    losses.add("disk full", [("loss", 3)])
    losses.tell()
    losses.tell()
    assert [record.getMessage() for record in caplog.records] == ["not recorded: 'loss' of step 3: disk full"]


def test_many_steps_are_one_line(caplog):
    losses = Losses()
    for step in range(5, 90):
        losses.add("disk full", [("loss", step), ("acc", step)])
    losses.tell()
    (record,) = caplog.records
    assert "85 values of 'loss' from step 5 to 89; 85 values of 'acc'" in record.getMessage()


def test_each_reason_has_its_line(caplog):
    losses = Losses()
    losses.add("one", [("a", 1)])
    losses.add("two", [("a", 1)])
    losses.tell()
    assert len(caplog.records) == 2


def test_nothing_dropped_is_nothing_said(caplog):
    Losses().tell()
    assert not caplog.records
