from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import SummaryRecord


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"log_dir": 3}, TypeError),
        ({"log_dir": "  "}, ValueError),
        ({"file_prefix": 3}, TypeError),
        ({"file_prefix": "a/b"}, ValueError),
        ({"file_prefix": ""}, ValueError),
        ({"file_suffix": "a b"}, ValueError),
        ({"file_suffix": "é"}, ValueError),
        ({"max_file_size": 1.5}, TypeError),
        ({"max_file_size": True}, TypeError),
        ({"raise_exception": 1}, TypeError),
        ({"export_options": []}, TypeError),
        ({"export_options": {"tensor": "npy"}}, ValueError),
        ({"export_options": {"tensor_format": 3}}, TypeError),
        ({"export_options": {"tensor_format": "npz"}}, ValueError),
        ({"flush_seconds": 0}, ValueError),
        ({"flush_seconds": "1"}, TypeError),
        ({"flush_seconds": True}, TypeError),
        ({"flush_seconds": 1 + 0j}, TypeError),
        ({"flush_seconds": float("nan")}, ValueError),
        ({"flush_seconds": np.float32("inf")}, ValueError),
        ({"queue_bytes": -1}, ValueError),
        ({"queue_bytes": float("inf")}, ValueError),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(tmp_path: Path, arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        SummaryRecord(**{"log_dir": str(tmp_path), **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_prefix": "a.b_1"},
        {"export_options": {"tensor_format": None}},
        {"export_options": None},
        {"max_file_size": 1},
        {"num_process": 1},
        {"flush_seconds": 1e12},
        {"flush_seconds": np.float32(1), "queue_bytes": np.int64(1 << 20)},
        {"rank": 3},
    ],
)
def test_valid_options_are_accepted(tmp_path: Path, arguments: Any) -> None:
    with SummaryRecord(str(tmp_path), **arguments) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    assert {path.stat().st_size > 0 for path in tmp_path.rglob("*.summary.*")} == {True}


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    for log_dir in (path, path / "inner"):
        with pytest.raises(NotADirectoryError):
            SummaryRecord(str(log_dir))


def test_the_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    SummaryRecord(str(tmp_path / "a" / "run")).close()
    assert (tmp_path / "a" / "run").stat().st_mode & 0o777 == 0o700
