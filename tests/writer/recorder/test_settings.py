"""The recorder is on when the variables or the file say so."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.recorder import RecorderSettings


def test_it_is_off_by_default() -> None:
    assert RecorderSettings.of({}) == RecorderSettings(False, 1, None)


def test_the_variables() -> None:
    environment = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": "/var/rdr"}
    assert RecorderSettings.of(environment) == RecorderSettings(True, 2, Path("/var/rdr"))


def test_the_file_wins_over_the_variables(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"rdr": {"enable": False, "path": "/file"}, "sys": {"mem_reuse": True}}))
    settings = RecorderSettings.of({"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2"}, path)
    assert settings == RecorderSettings(False, 1, Path("/file"))


def test_a_file_about_other_things_leaves_the_variables(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"sys": {"mem_reuse": true}}')
    assert RecorderSettings.of({"MS_RDR_ENABLE": "1"}, path).enable


@pytest.mark.parametrize(
    "environment",
    [
        {"MS_RDR_ENABLE": "yes"},
        {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "3"},
        {"MS_RDR_ENABLE": "1", "MS_RDR_PATH": "relative"},
    ],
)
def test_variables_that_cannot_be_used_are_refused(environment: Any) -> None:
    with pytest.raises(ValueError, match=r"MS_RDR_ENABLE|absolute"):
        RecorderSettings.of(environment)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('{"rdr": 1}', "is an object, got 1"),
        ('{"rdr": {"enable": 1}}', "true or false, got 1"),
        ('{"rdr": {"enable": true, "mode": "1"}}', "1 or 2, got '1'"),
        ('{"rdr": {"enable": true, "path": "here"}}', "absolute, got 'here'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        RecorderSettings.of({}, path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RecorderSettings.of({}, tmp_path / "config.json")
