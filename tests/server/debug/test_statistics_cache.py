"""Statistics found again by the identity of their file, for any name and inode."""

import os
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug import statistics_cache
from mindinsight.server.debug.statistics_cache import Measurement, StatisticsCache, identify
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
