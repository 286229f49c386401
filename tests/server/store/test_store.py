"""Publishing snapshots: what readers see, and who is told."""

import dataclasses
import logging
from typing import Any

import pytest

from mindinsight.server.store.store import Changes, Store


@pytest.fixture
def store() -> Store:
    return Store(base="/base", watch="polling")


def publish(store: Any, later: int = 1) -> Any:
    version = store.snapshot().version + later
    snapshot = dataclasses.replace(store.snapshot(), version=version)
    store.publish(snapshot, Changes(version, frozenset({"./a"}), {"./a": frozenset({"scalar"})}))
    return snapshot


def test_a_reader_keeps_the_snapshot_it_took(store: Store) -> None:
    before = store.snapshot()
    after = publish(store)
    assert store.snapshot() is after is not before


def test_versions_grow_from_one_start_of_the_server_to_the_next(store: Store) -> None:
    assert 1_600_000_000_000 << 12 < store.snapshot().version < 1 << 53  # milliseconds since 1970, and room


def test_a_look_that_showed_nothing_is_noted_without_telling_anybody(store: Store) -> None:
    published: list[Any] = []
    store.subscribe(published.append)
    version = store.snapshot().version
    store.scanned(12.5)
    assert (store.snapshot().scanned, store.snapshot().version, published) == (12.5, version, [])


def test_subscribers_are_told_until_they_leave(store: Store) -> None:
    published: list[Any] = []
    leave = store.subscribe(published.append)
    first = publish(store)
    leave()
    publish(store)
    assert [changes.version for changes in published] == [first.version]


def test_a_subscriber_sees_what_it_is_told_about(store: Store) -> None:
    seen = []
    store.subscribe(lambda changes: seen.append((changes.version, store.snapshot().version)))
    version = publish(store).version
    assert seen == [(version, version)]


def test_a_failing_subscriber_does_not_keep_the_others_from_hearing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(changes: Any) -> None:
        raise RuntimeError("no")

    published: list[Any] = []
    store.subscribe(fail)
    store.subscribe(published.append)
    with caplog.at_level(logging.ERROR):
        publish(store)
    assert len(published) == 1
    assert "subscriber" in caplog.text


def test_versions_only_grow(store: Store) -> None:
    with pytest.raises(ValueError, match="after"):
        publish(store, later=0)
