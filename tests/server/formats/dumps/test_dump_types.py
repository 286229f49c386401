"""Listings and lazy sequences."""

from typing import Any

import pytest

from mindinsight.server.formats.dumps import (
    list_tensors,
    open_dump,
)
from mindinsight.server.formats.dumps.dump_types import LazySequence


def test_listings_are_sequences(samples: Any) -> None:
    entries = list_tensors(open_dump(samples / "ms_sync_kernels_filter"), 0, 1)
    assert len(entries) == len(list(entries)) == 61
    assert entries[-1] == entries[60] == list(entries)[60]
    assert list(entries[2:9:3]) == [entries[2], entries[5], entries[8]]
    assert entries[3] in entries
    with pytest.raises(IndexError):
        entries[61]


def test_items_are_made_when_asked_for() -> None:
    calls = []
    items = LazySequence(1000, lambda at: calls.append(at) or at)
    assert (items[5], items[-1], items[10:12]) == (5, 999, (10, 11))
    assert calls == [5, 999, 10, 11]
