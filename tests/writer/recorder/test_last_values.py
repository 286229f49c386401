"""The newest value of each tag is read back from the files of a run."""

import json
from pathlib import Path

import pytest

from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorder.last_values import last_values
from tests.writer.recorder.failing_training import left, train


def test_the_newest_value_of_every_tag_is_left(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 4)
    values = json.loads(left(tmp_path)["SUMMARY.last_values"].read_text())
    assert values["scalar"]["loss"]["value"] == 0.25
    assert values["scalar"]["loss"]["step"] == 4
    assert values["scalar"]["rare"]["value"] == "nan"
    assert values["scalar"]["rare"]["step"] == 1
    assert values["image"]["input"]["width"] == 5
    tensor = values["tensor"]["w"]
    assert (tensor["shape"], tensor["not_finite"], tensor["max"]) == ([2, 2], 1, 4)
    assert tensor["values"] == [1, "inf", 4, 0]
    assert values["histogram"]["h"]["sum"] == 45


def test_only_the_end_of_a_large_file_is_read_and_a_torn_record_ends_it(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "early", 1.0)
        record.record(0)
        for step in range(1, 500):
            record.add_value("scalar", "loss", float(step))
            record.record(step)
    path = next(tmp_path.iterdir())
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-40])  # the closing record and a piece of the last step
    assert last_values([path])["scalar"]["early"]["value"] == 1
    values = last_values([path], tail=1000)["scalar"]
    assert set(values) == {"loss"}
    assert values["loss"]["step"] == 498
