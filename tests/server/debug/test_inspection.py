"""Inspection of a step, and of a step that is still being written."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.debug import inspection
from mindinsight.server.debug.inspection import Inspection
from tests.narrowing import require


@pytest.fixture
def executor() -> Iterator[Any]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def test_statistics_come_while_the_listing_is_there(data: Any, executor: Any) -> None:
    inspected = Inspection(str(data / "ms_sync_v2_0_names"), 0, 0, executor, None, Threads(2, "job"))
    listing = inspected.listing()
    assert len(listing.entries) == 99
    assert listing.wait(60)
    assert [result.entry for result in listing.results] == list(listing.entries)
    entry = listing.entries[7]
    assert require(require(require(listing.result(entry)).measurement).statistics.count) > 0
    assert listing.operators[(entry.graph, entry.recorded)].type == entry.type
    assert inspected.listing() is listing


def test_a_dump_that_grows_is_followed(copied: Any, executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "PATIENCE", 0.0)
    path = copied("ms_sync_v2_0_names")
    step = path / "rank_0" / "Net" / "0" / "0"
    inspected = Inspection(str(path), 0, 0, executor, None, Threads(2, "job"))
    before = inspected.listing()
    assert inspected.listing() is before
    source = next(step.glob("Conv2D.*.output.0.*"))
    shutil.copy(source, step / source.name.replace("Conv2D-op51", "Conv2D-op99"))
    after = inspected.listing()
    assert len(after.entries) == len(before.entries) + 1
    assert after.wait(60)
    assert len(after.results) == 100
    inspected.stop()


def test_a_file_that_was_half_written_is_read_again_when_it_is_whole(
    copied: Any, executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check files, because the time of a folder changes when a file is created, not when it is filled."""
    monkeypatch.setattr(inspection, "PATIENCE", 0.0)
    path = copied("ms_sync_v2_0_names")
    source = next((path / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*.output.0.*"))
    content = source.read_bytes()
    source.write_bytes(content[:-5])
    inspected = Inspection(str(path), 0, 0, executor, None, Threads(2, "job"))
    before = inspected.listing()
    assert before.wait(60)
    assert [result.damage.path for result in before.results if result.damage] == [str(source)]
    source.write_bytes(content)
    after = inspected.listing()
    assert after is not before
    assert after.wait(60)
    assert [result.damage for result in after.results if result.damage] == []
    inspected.stop()


def test_a_file_that_stays_broken_is_not_read_for_ever(
    copied: Any, executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "PATIENCE", 0.0)
    path = copied("ms_sync_v2_0_names")
    source = next((path / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*.output.0.*"))
    source.write_bytes(source.read_bytes()[:-5])
    os.utime(source, (1, 1))
    inspected = Inspection(str(path), 0, 0, executor, None, Threads(2, "job"))
    before = inspected.listing()
    assert before.wait(60)
    assert inspected.listing() is before


def test_measuring_that_an_error_ended_is_tried_again(
    data: Any, executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that tensors are measured again after the workers were killed."""
    monkeypatch.setattr(inspection, "PATIENCE", 0.0)
    with monkeypatch.context() as broken:
        broken.setattr(inspection, "measure_all", lambda *values: map(require, [None]))
        inspected = Inspection(str(data / "ms_sync_v2_0_names"), 0, 0, executor, None, Threads(2, "job"))
        first = inspected.listing()
        assert first.wait(60)
    assert (first.done, list(first.results)) == (True, [])
    assert inspected.listing() is first  # not at once: a file may end them each time
    monkeypatch.setattr(inspection, "RETRY", 0)
    again = inspected.listing()
    assert again.wait(60)
    assert len(again.results) == len(again.entries) == 99
    assert inspected.listing() is again
    inspected.stop()
