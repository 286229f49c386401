"""Directories of a run are their owner's alone."""

import logging
from pathlib import Path

import pytest

from mindinsight.writer.files.directories import make_log_dir, private_folder


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    assert private_folder(tmp_path / "a" / "b").is_dir()
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")} == {0o700}


def test_a_file_in_its_place_is_an_error_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    for strict in (True, False):
        with pytest.raises(NotADirectoryError, match="log_dir is not a directory"):
            make_log_dir(tmp_path / "run" / "below", strict)


def test_what_the_system_refuses_is_logged_unless_strict(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / ("x" * 300)
    with caplog.at_level(logging.ERROR):
        make_log_dir(path, strict=False)
    assert "trying again with the first record" in caplog.text
    with pytest.raises(OSError, match="too long"):
        make_log_dir(path, strict=True)
