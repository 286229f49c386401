"""Copies of a store's event files: what is fetched, appended, replaced and removed."""

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from mindinsight.server.files import remote_store
from mindinsight.server.files.opener import open_stream
from mindinsight.server.files.own_files import locked, trust_copies
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore, StoreError
from mindinsight.server.formats.read_limits import Limits
from mindinsight.server.ingest import mirrors as mirror_module
from mindinsight.server.ingest.mirrors import OVERLAP, Mirror

NAME = "events.out.events.summary.1700000000.0.host_MS"
PATH = f"run/{NAME}"


class CountingStore(RemoteStore):
    """A store that notes which bytes are read, and fails when told to."""

    def __init__(self, url: str) -> None:
        super().__init__(url, threading.Event())
        self.reads: list[tuple[int, int]] = []
        self.failure = ""

    def read(self, file: RemoteFile, start: int, end: int) -> bytes:
        if self.failure:
            raise StoreError(self.failure)
        self.reads.append((start, end))
        return super().read(file, start, end)


class Remote:
    """A folder in a store, and its mirror."""

    def __init__(self, folder: Path) -> None:
        self.url = f"memory://{uuid.uuid4().hex}"
        self.files = fsspec.filesystem("memory")
        self.store = CountingStore(self.url)
        self.folder = folder
        trust_copies(folder.parent.parent)
        self.mirror = self.again()

    def again(self) -> Mirror:
        """The mirror of another server on the same workspace."""
        return Mirror(self.store, self.folder, threading.Event())

    def put(self, content: bytes, path: str = PATH) -> None:
        self.files.pipe_file(f"{self.url}/{path}", content)

    def copies(self) -> dict[str, bytes]:
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    remote = Remote(tmp_path / "remote" / "digest" / "runs")
    yield remote
    if remote.files.exists(remote.url):
        remote.files.rm(remote.url, recursive=True)


def test_event_files_are_copied_and_everything_else_when_it_is_opened(remote: Remote) -> None:
    remote.put(b"events")
    remote.put(b"lineage", f"run/{NAME}_lineage")
    remote.put(b"weights", "run/model.ckpt")
    remote.put(b"names", "dump/rank_0/.dump_metadata/data_dump.json")
    remote.put(b"dump", "dump/rank_0/Net/0/0/Conv.npy")
    assert remote.mirror.sync()
    assert len(remote.store.reads) == 3
    assert remote.copies() == {
        PATH: b"events",
        f"run/{NAME}_lineage": b"lineage",
        "run/model.ckpt": b"\0" * 7,
        "dump/rank_0/.dump_metadata/data_dump.json": b"names",
        "dump/rank_0/Net/0/0/Conv.npy": b"\0" * 4,
    }
    assert (remote.mirror.error, remote.mirror.sync()) == ("", False)
    with open_stream(remote.folder / "run" / "model.ckpt") as stream:
        assert stream.read() == b"weights"
    assert not remote.again().sync()  # what was fetched stays


def test_placeholders_follow_the_store(remote: Remote) -> None:
    """Another content, a file in place of a folder, and none at all."""
    remote.put(b"old", "run/model.ckpt")
    remote.put(b"gone", "run/other.ckpt")
    remote.mirror.sync()
    read = [open_stream(remote.folder / "run" / name) for name in ("model.ckpt", "other.ckpt")]
    for stream in read:
        stream.close()
    remote.put(b"newer", "run/model.ckpt")
    remote.files.rm(f"{remote.url}/run/other.ckpt")
    assert remote.mirror.sync()
    assert remote.copies() == {"run/model.ckpt": b"\0" * 5}
    with open_stream(remote.folder / "run" / "model.ckpt") as stream:
        assert stream.read() == b"newer"


def test_more_placeholders_than_a_folder_should_hold_are_said(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "MAX_PLACEHOLDERS", 2)
    for number in range(3):
        remote.put(b"x", f"run/{number}.npy")
    remote.mirror.sync()
    assert remote.mirror.error == "remote.many"
    assert len(remote.copies()) == 2


def test_what_nobody_would_look_at_stays_in_the_store(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files below the depth at which runs are looked for, and a model whose name is that of a graph."""
    monkeypatch.setattr(mirror_module, "GRAPH", Limits("graph", 100))
    remote.put(b"deep", f"a/b/c/d/{NAME}")
    remote.put(b"too deep", f"a/b/c/d/e/{NAME}")
    remote.put(b"graph", "run/graph.pb")
    remote.put(b"m" * 101, "run/model.pb")
    remote.mirror.sync()
    unread = {f"a/b/c/d/e/{NAME}": b"\0" * 8}
    assert remote.copies() == {f"a/b/c/d/{NAME}": b"deep", "run/graph.pb": b"graph"} | unread


def test_what_was_written_last_comes_first(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_store, "REQUESTS", 1)
    for number in range(5):
        remote.put(b"x" * (number + 1), f"run{number}/{NAME}")
    remote.mirror.sync()
    assert remote.store.reads == [(0, size) for size in (5, 4, 3, 2, 1)]


def test_one_request_for_a_file_and_none_when_nothing_is_new(remote: Remote) -> None:
    remote.put(b"events")
    remote.mirror.sync()
    assert remote.store.reads == [(0, 6)]
    before = remote.store.requests
    assert not remote.mirror.sync()
    assert not remote.again().sync()  # a server that starts again
    assert (remote.store.reads, remote.store.requests - before) == ([(0, 6)], 2)  # two listings


def test_only_what_is_new_is_read(remote: Remote) -> None:
    first, second = b"a" * 1000, b"b" * 500
    remote.put(first)
    remote.mirror.sync()
    inode = (remote.folder / PATH).stat().st_ino
    remote.put(first + second)
    remote.mirror.sync()
    assert remote.store.reads[1:] == [(1000 - OVERLAP, 1500)]
    assert remote.copies() == {PATH: first + second}
    assert (remote.folder / PATH).stat().st_ino == inode


@pytest.mark.parametrize("content", [b"c" * 2000, b"c" * 1000, b"c" * 10, b""])
def test_another_file_of_the_same_name_is_fetched_anew(remote: Remote, content: bytes) -> None:
    remote.put(b"a" * 1000)
    remote.mirror.sync()
    remote.put(content)
    remote.mirror.sync()
    assert remote.copies() == {PATH: content}


def test_large_files_come_in_pieces(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "PIECE", 400)
    content = bytes(range(250)) * 4
    remote.put(content)
    remote.mirror.sync()
    assert remote.store.reads == [(0, 400), (400, 800), (800, 1000)]
    remote.put(content + b"x" * 900)
    remote.mirror.sync()
    assert remote.store.reads[3:] == [(936, 1336), (1336, 1736), (1736, 1900)]
    assert remote.copies() == {PATH: content + b"x" * 900}


def test_what_is_gone_from_the_store_goes(remote: Remote) -> None:
    remote.put(b"events")
    remote.put(b"others", f"other/{NAME}")
    remote.mirror.sync()
    remote.files.rm(f"{remote.url}/{PATH}")
    assert remote.mirror.sync()
    assert remote.copies() == {f"other/{NAME}": b"others"}
    assert not (remote.folder / "run").exists()


def test_a_bucket_that_vanished_leaves_what_is_known(remote: Remote) -> None:
    remote.put(b"events")
    remote.mirror.sync()
    remote.files.rm(remote.url, recursive=True)
    assert not remote.mirror.sync()
    assert (remote.copies(), remote.mirror.error) == ({PATH: b"events"}, "remote.gone")
    remote.put(b"events")
    remote.mirror.sync()
    assert remote.mirror.error == ""


@pytest.mark.parametrize("reason", ["remote.forbidden", "remote.unreachable"])
def test_a_store_that_refuses_leaves_what_is_known_and_goes_on_later(remote: Remote, reason: str) -> None:
    remote.put(b"events")
    remote.mirror.sync()
    remote.put(b"events and more")
    remote.store.failure = reason
    remote.mirror.sync()
    assert (remote.copies(), remote.mirror.error) == ({PATH: b"events"}, reason)
    remote.store.failure = ""
    remote.mirror.sync()
    assert (remote.copies(), remote.mirror.error) == ({PATH: b"events and more"}, "")


def test_a_full_disk_is_said(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "ROOM", 1 << 60)
    remote.put(b"events")
    remote.mirror.sync()
    assert (remote.copies(), remote.mirror.error) == ({}, "remote.full")


def test_a_file_where_there_is_a_folder_costs_only_itself(remote: Remote) -> None:
    (remote.folder / PATH).mkdir(parents=True)
    remote.put(b"events")
    remote.put(b"others", f"other/{NAME}")
    remote.mirror.sync()
    assert (remote.copies(), remote.mirror.error) == ({f"other/{NAME}": b"others"}, "remote.name")


def test_another_server_on_the_workspace_does_the_work(remote: Remote) -> None:
    remote.put(b"events")
    with locked(remote.folder.with_name(".copying")):
        assert not remote.mirror.sync()
        assert remote.store.requests == 0
    assert remote.mirror.sync()


@pytest.mark.parametrize("state", ["", "[]", '{"run": 3}', "{half"])
def test_a_note_of_what_was_copied_that_is_none_costs_a_fetch(remote: Remote, state: str) -> None:
    remote.put(b"events")
    remote.mirror.sync()
    remote.folder.with_name(".copied.json").write_text(state)
    remote.mirror.sync()
    assert (remote.store.reads, remote.copies()) == ([(0, 6)] * 2, {PATH: b"events"})


def test_the_copy_is_the_users_alone_and_as_old_as_the_original(remote: Remote) -> None:
    remote.put(b"events")
    remote.mirror.sync()
    (file,) = remote.store.list_files().values()
    assert (remote.folder / PATH).stat().st_mtime == pytest.approx(file.modified)
    for folder in (remote.folder, remote.folder.parent, remote.folder.parent.parent):
        assert folder.stat().st_mode & 0o077 == 0
