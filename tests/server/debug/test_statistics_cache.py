"""Statistics found again by the identity of their file, for any name and inode."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug import statistics_cache
from mindinsight.server.debug.statistics_cache import Identity, Measurement, StatisticsCache, identify
from mindinsight.server.files import own_files
from tests.narrowing import require


class Ref:
    member = ""

    def __init__(self, path: Any) -> None:
        self.path = path


def test_an_inode_of_64_bits_and_a_name_that_is_not_utf8_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.npy")
    Path(path).touch()
    status = os.lstat(path)
    large = os.stat_result((status.st_mode, 2**64 - 5, 2**63 + 1, *status[3:10]), {"st_mtime_ns": 1})
    with monkeypatch.context() as patched:
        patched.setattr(statistics_cache.Path, "lstat", lambda _: large)  # type: ignore[attr-defined]
        identity = require(identify(Ref(path)))  # type: ignore[arg-type]
    cache = StatisticsCache(tmp_path / "cache.sqlite")
    measurement = Measurement(Statistics(1, 0, 0, 1, 0, 0, 0), (1,), "float32")
    cache.keep({identity: measurement})
    assert cache.find([identity]) == {identity: measurement}


@pytest.fixture
def filled(tmp_path: Path) -> tuple[StatisticsCache, Identity, Measurement]:
    """A cache with the statistics of one file."""
    (tmp_path / "a.npy").touch()
    identity = require(identify(Ref(str(tmp_path / "a.npy"))))  # type: ignore[arg-type]
    cache = StatisticsCache(tmp_path / "cache.sqlite")
    measurement = Measurement(Statistics(1, 0, 0, 1, 0, 0, 0), (1,), "float32")
    cache.keep({identity: measurement})
    return cache, identity, measurement


def test_a_cache_that_cannot_be_written_now_is_left_as_it_is(
    filled: tuple[StatisticsCache, Identity, Measurement], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, identity, measurement = filled
    with monkeypatch.context() as patched:
        patched.setattr(own_files, "STEPS", 1)  # SQLite interrupts the query, as it does when a disk is full
        cache.keep({replace(identity, path="b.npy"): measurement})
    assert cache.find([identity]) == {identity: measurement}


@pytest.mark.parametrize("damage", ["bytes", "table"])
def test_a_damaged_cache_is_deleted_and_made_anew(
    tmp_path: Path, filled: tuple[StatisticsCache, Identity, Measurement], damage: str
) -> None:
    cache, identity, measurement = filled
    if damage == "bytes":
        (tmp_path / "cache.sqlite").write_bytes(b"no database" * 1000)
    else:
        with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as database:
            database.execute("DROP TABLE measured")
    assert cache.find([identity]) == {}
    cache.keep({identity: measurement})
    assert not (tmp_path / "cache.sqlite").exists()
    cache.keep({identity: measurement})
    assert cache.find([identity]) == {identity: measurement}
