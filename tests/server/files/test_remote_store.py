"""Listings and reads of a store, and what its errors are taken for."""

import threading
import uuid
import zipfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fsspec
import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.files import remote_store
from mindinsight.server.files.remote_store import (
    ATTEMPTS,
    RemoteStore,
    StoreError,
    is_safe,
    open_store,
    reason_of,
    time_of,
)


class Waits(threading.Event):
    """Notes how long it is waited for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        return self.is_set()


class Failing:
    """File system of which the first listings fail."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def invalidate_cache(self) -> None:
        pass

    def find(self, _root: str, detail: bool) -> dict[str, Any]:
        assert detail
        if self.errors:
            raise self.errors.pop(0)
        return {"bucket/a/f": {"size": 3, "ETag": '"1"', "type": "file"}}


def store_over(monkeypatch: pytest.MonkeyPatch, filesystem: object) -> tuple[RemoteStore, Waits]:
    monkeypatch.setattr(remote_store, "open_store", lambda url: (filesystem, "bucket"))
    waits = Waits()
    return RemoteStore("s3://bucket", waits), waits


@pytest.fixture
def folder() -> str:
    return f"memory://{uuid.uuid4().hex}"


def test_files_are_listed_and_read_in_parts(folder: str) -> None:
    fsspec.filesystem("memory").pipe({f"{folder}/runs/a/f": b"0123456789", f"{folder}/runs/g": b""})
    fsspec.filesystem("memory").pipe(f"{folder}/runs/.hidden/f", b"not finished")
    store = RemoteStore(f"{folder}/runs", threading.Event())
    files = store.list_files()
    assert {path: file.size for path, file in files.items()} == {"a/f": 10, "g": 0}
    assert files["a/f"].modified > 0
    assert store.read(files["a/f"], 2, 5) == b"234"
    assert store.read(files["a/f"], 8, 50) == b"89"


def test_an_archive_that_was_replaced_is_listed_anew(tmp_path: Path) -> None:
    store = RemoteStore(f"zip://::file://{tmp_path}/runs.zip", threading.Event())
    for number in (1, 2):
        with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
            archive.writestr("run/file", b"x" * number)
        files = store.list_files()
        assert {path: file.size for path, file in files.items()} == {"run/file": number}
        assert store.read(files["run/file"], 0, number) == b"x" * number


def test_a_busy_store_is_asked_again_later_and_later(monkeypatch: pytest.MonkeyPatch) -> None:
    store, waits = store_over(monkeypatch, Failing(OSError("503 SlowDown"), TimeoutError(), OSError("429")))
    assert list(store.list_files()) == ["a/f"]
    assert len(waits.seconds) == 3
    assert [0.25 * 2**n <= seconds <= 0.5 * 2**n for n, seconds in enumerate(waits.seconds)] == [True] * 3


def test_a_store_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = store_over(monkeypatch, Failing(*[OSError("down")] * 99))
    with pytest.raises(StoreError) as refused:
        store.list_files()
    assert (refused.value.reason, store.requests) == ("remote.unreachable", ATTEMPTS)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError("403 key=sesame"), "remote.forbidden"),
        (type("NoCredentialsError", (Exception,), {})("sesame"), "remote.forbidden"),
        (type("ClientResponseError", (Exception,), {"status": 401})(), "remote.forbidden"),
        (FileNotFoundError("sesame"), "remote.gone"),
    ],
)
def test_what_waiting_does_not_mend_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    store, waits = store_over(monkeypatch, Failing(error))
    with pytest.raises(StoreError) as refused:
        store.list_files()
    assert (refused.value.reason, waits.seconds, store.requests) == (reason, [], 1)
    assert "sesame" not in f"{refused.value!r} {refused.value.__cause__!r}"


def test_the_end_of_the_server_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    store, waits = store_over(monkeypatch, Failing(*[OSError("down")] * 99))
    waits.set()
    with pytest.raises(StoreError):
        store.list_files()
    assert store.requests == 1


def test_a_server_that_knows_no_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    filesystem: Any = Failing()
    filesystem.cat_file = lambda address, start, end: b"0123456789"
    store, _ = store_over(monkeypatch, filesystem)
    (file,) = store.list_files().values()
    assert store.read(file, 2, 5) == b"234"


@pytest.mark.parametrize("path", ["../f", "a/../f", "a//f", "/f", ".hidden/f", "a/.f", "a\0", "", "x" * 300])
def test_paths_that_lead_elsewhere(path: str) -> None:
    assert not is_safe(path)


def test_a_store_that_nobody_knows_is_named() -> None:
    with pytest.raises(BadSettings, match="nonsense"):
        open_store("nonsense://x")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_url: str, **_options: Any) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(BadSettings, match="s3://bucket: Install s3fs"):
        open_store("s3://bucket")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (datetime(2026, 1, 1, tzinfo=timezone.utc), 1767225600.0),
        (datetime(2026, 1, 1), 1767225600.0),
        ("2026-01-01T00:00:00Z", 1767225600.0),
        (12.5, 12.5),
        ((2026, 1, 1), 0.0),
        ("soon", 0.0),
    ],
)
def test_times_of_stores(value: object, seconds: float) -> None:
    assert time_of(value) == seconds


def test_other_errors_are_worth_another_attempt() -> None:
    make: Callable[[str], Exception] = type("ClientError", (Exception,), {})
    assert reason_of(make("SlowDown")) == "remote.unreachable"
