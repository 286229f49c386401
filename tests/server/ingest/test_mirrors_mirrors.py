"""Stores among the base directories: runs appear and grow, and what is wrong is said beside what is known."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.errors import BadSettings
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore
from mindinsight.server.ingest import mirrors
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.ingest.mirrors import Mirrors, check_stores
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of, stores
from mindinsight.server.store.run import DirectoryDamage
from mindinsight.server.store.store import Store

NAME = "events.out.events.summary.1700000000.0.host_MS"
Until = Callable[[Callable[[], object]], object]


def records(first: int, end: int) -> bytes:
    events = [Event(wall_time=float(step), step=step) for step in range(first, end)]
    for event in events:
        event.summary.value.add(tag="loss", scalar_value=float(event.step))
    return b"".join(encode_record(event.SerializeToString()) for event in events)


@pytest.fixture
def url() -> Iterator[str]:
    url = f"memory://{uuid.uuid4().hex}"
    yield url
    if fsspec.filesystem("memory").exists(url):
        fsspec.filesystem("memory").rm(url, recursive=True)


def put(url: str, content: bytes) -> None:
    fsspec.filesystem("memory").pipe_file(f"{url}/run/{NAME}", content)


def settings_of(url: str, workspace: Path, interval: float = 0.25) -> Settings:
    bases = bases_of([f"lab={url}"], workspace)
    return Settings(bases, workspace, reload_interval=interval, watch="polling", workers=1)


def steps(store: Store) -> list[int] | None:
    run = store.snapshot().runs.get("./lab/run")
    return run.scalars["loss"].columns().steps.tolist() if run and "loss" in run.scalars else None


def test_a_run_in_a_store_appears_and_grows(url: str, tmp_path: Path, wait: Until) -> None:
    put(url, records(0, 3))
    store = Store()
    loader = Loader(settings_of(url, tmp_path), store)
    loader.start()
    try:
        assert wait(lambda: steps(store) == [0, 1, 2])
        put(url, records(0, 5))
        assert wait(lambda: steps(store) == [0, 1, 2, 3, 4])
        (base,) = store.snapshot().bases
        assert (base.name, base.path, base.missing) == ("lab", url, False)
    finally:
        loader.stop()


def test_a_store_is_looked_at_once_when_files_are(url: str, tmp_path: Path) -> None:
    put(url, records(0, 3))
    store = Store()
    Loader(settings_of(url, tmp_path, interval=0), store).load()
    assert steps(store) == [0, 1, 2]


def test_a_vanished_store_is_said_and_its_runs_stay(url: str, tmp_path: Path, wait: Until) -> None:
    put(url, records(0, 3))
    store = Store()
    loader = Loader(settings_of(url, tmp_path), store)
    loader.start()
    try:
        assert wait(lambda: steps(store) == [0, 1, 2])
        fsspec.filesystem("memory").rm(url, recursive=True)
        assert wait(lambda: store.snapshot().errors == (DirectoryDamage(url, "remote.gone"),))
        assert steps(store) == [0, 1, 2]
        put(url, records(0, 4))
        assert wait(lambda: (store.snapshot().errors, steps(store)) == ((), [0, 1, 2, 3]))
    finally:
        loader.stop()


def test_a_server_that_starts_without_its_store_shows_what_it_knew(url: str, tmp_path: Path) -> None:
    put(url, records(0, 3))
    Loader(settings_of(url, tmp_path, interval=0), Store()).load()
    fsspec.filesystem("memory").rm(url, recursive=True)
    store = Store()
    Loader(settings_of(url, tmp_path, interval=0), store).load()
    assert (steps(store), store.snapshot().errors) == ([0, 1, 2], (DirectoryDamage(url, "remote.gone"),))


def test_a_read_that_hangs_is_said_and_keeps_nobody(
    url: str, tmp_path: Path, wait: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def hang(_store: RemoteStore, _file: RemoteFile, _start: int, _end: int) -> bytes:
        released.wait(600)
        return b""

    monkeypatch.setattr(RemoteStore, "read", hang)
    monkeypatch.setattr(mirrors, "SLOW", 0.2)
    put(url, records(0, 3))
    store = Store()
    loader = Loader(settings_of(url, tmp_path), store)
    loader.start()
    try:
        assert wait(lambda: store.snapshot().errors == (DirectoryDamage(url, "remote.slow"),))
    finally:
        loader.stop()
        released.set()


def test_what_a_store_says_reaches_no_log(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_store: RemoteStore) -> None:
        raise RuntimeError("https://host/?X-Amz-Signature=sesame")

    monkeypatch.setattr(RemoteStore, "list_files", fail)
    remote = Mirrors(settings_of(url, tmp_path))
    with caplog.at_level(logging.DEBUG):
        remote.sync()
    assert remote.errors() == (DirectoryDamage(url, "remote.unreachable"),)
    assert "RuntimeError" in caplog.text
    assert "sesame" not in caplog.text


def test_a_store_that_does_not_answer_is_asked_less_and_less(
    url: str, tmp_path: Path, wait: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[float] = []

    def fail(_store: RemoteStore) -> None:
        passes.append(time.monotonic())
        raise RuntimeError

    monkeypatch.setattr(RemoteStore, "list_files", fail)
    waits: list[float] = []
    remote = Mirrors(settings_of(url, tmp_path))

    def pass_time(seconds: float | None = None) -> bool:
        waits.append(seconds or 0.0)
        return len(waits) < 9 or remote.stop() is not None

    monkeypatch.setattr(remote._stopping, "wait", pass_time)
    remote.start()
    assert wait(lambda: len(waits) == 9)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 60.0]
    assert len(passes) == 9


def test_a_store_that_no_package_opens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="nonsense"):
        check_stores(stores(bases_of("nonsense://x", tmp_path)))


def test_directories_alone_need_no_mirrors(tmp_path: Path) -> None:
    assert Loader(Settings(tmp_path, tmp_path / "workspace"), Store())._mirrors is None
