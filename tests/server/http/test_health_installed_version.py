import importlib.metadata
import sys
from pathlib import Path

import pytest

from mindinsight.server.http.health import installed_version


@pytest.fixture(autouse=True)
def _fresh() -> None:
    installed_version.cache_clear()


def test_it_is_what_the_metadata_say() -> None:
    assert installed_version() == importlib.metadata.version("mindinsight")


def test_the_first_folder_of_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mindinsight-9.8.7.dist-info").mkdir()
    (tmp_path / "mindinsight_extra-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert installed_version() == "9.8.7"
    installed_version.cache_clear()


def test_without_such_a_folder_the_metadata_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{name} 0.1")
    assert installed_version() == "mindinsight 0.1"
    installed_version.cache_clear()
