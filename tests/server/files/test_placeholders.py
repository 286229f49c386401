"""Files of a store that are fetched when they are opened: once, whole, and never half."""

import os
import shutil
import sqlite3
import threading
import uuid
from collections import namedtuple
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import fsspec
import pytest

from mindinsight.server.files import placeholders
from mindinsight.server.files.opener import open_stream, opened
from mindinsight.server.files.own_files import own_folder, trust_copies
from mindinsight.server.files.placeholders import PlaceholderIndex, fetch, make_room, put_placeholder
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore, StoreError

Usage = namedtuple("Usage", "total used free")


class Store:
    """A store in memory, and a local copy of nothing but placeholders."""

    def __init__(self, folder: Path) -> None:
        self.url = f"memory://{uuid.uuid4().hex}"
        self.files = fsspec.filesystem("memory")
        self.copy = own_folder(folder / "digest") / "runs"
        self.copy.mkdir()
        trust_copies(folder)

    def put(self, **contents: bytes) -> None:
        for name, content in contents.items():
            self.files.pipe_file(f"{self.url}/dump/{name}", content)
        files = RemoteStore(self.url, threading.Event()).list_files()
        for path, file in files.items():
            put_placeholder(self.copy, path, file)
        PlaceholderIndex(self.copy).put(self.url, files, ())

    def path(self, name: str) -> Path:
        return self.copy / "dump" / name

    def read(self, name: str) -> bytes:
        with open_stream(self.path(name)) as stream:
            return stream.read()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path)
    yield store
    store.files.rm(store.url, recursive=True)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Names of what is read from stores, and from where on."""
    reads: list[tuple[str, int]] = []
    read = RemoteStore.read

    def note(store: RemoteStore, file: RemoteFile, start: int, end: int) -> bytes:
        reads.append((file.address.rpartition("/")[2], start))
        return read(store, file, start, end)

    monkeypatch.setattr(RemoteStore, "read", note)
    return reads


def test_a_placeholder_has_size_and_time_and_takes_no_room(store: Store) -> None:
    store.put(tensor=b"t" * 1_000_000, nothing=b"")
    state = store.path("tensor").stat()
    assert (state.st_size, state.st_blocks) == (1_000_000, 0)
    assert state.st_mtime == pytest.approx(
        RemoteStore(store.url, threading.Event()).list_files()["dump/tensor"].modified
    )
    assert store.read("nothing") == b""


def test_the_content_is_fetched_once(store: Store, reads: list[tuple[str, int]]) -> None:
    store.put(tensor=b"content")
    assert [store.read("tensor") for _ in range(3)] == [b"content"] * 3
    with opened(store.path("tensor")) as descriptor:
        assert os.pread(descriptor, 3, 4) == b"ent"
    assert reads == [("tensor", 0)]


def test_what_follows_in_the_folder_comes_along(
    store: Store, reads: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placeholders, "AHEAD", 2)
    store.put(**{f"t{number}": b"content" for number in range(5)})
    store.read("t1")
    assert sorted(reads) == [("t1", 0), ("t2", 0), ("t3", 0)]
    assert store.read("t3") == b"content"
    assert len(reads) == 3
    monkeypatch.setattr(placeholders, "AHEAD_SIZE", 6)
    store.read("t0")
    assert reads[3:] == [("t0", 0)]


def test_many_readers_at_once_fetch_it_once(store: Store, reads: list[tuple[str, int]]) -> None:
    store.put(tensor=b"content" * 100_000)
    with ThreadPoolExecutor(8) as executor:
        contents = set(executor.map(store.read, ["tensor"] * 16))
    assert contents == {b"content" * 100_000}
    assert reads == [("tensor", 0)]


def test_a_fetch_that_was_interrupted_goes_on(
    store: Store, reads: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placeholders, "PIECE", 4)
    monkeypatch.setattr(placeholders, "PAUSE", 0.0)
    store.put(tensor=b"0123456789")
    read = RemoteStore.read

    def fail(store: RemoteStore, file: RemoteFile, start: int, end: int) -> bytes:
        if start >= 8:
            raise StoreError("remote.unreachable")
        return read(store, file, start, end)

    with monkeypatch.context() as patch:
        patch.setattr(RemoteStore, "read", fail)
        with pytest.raises(OSError, match="does not respond"):
            store.read("tensor")
    assert store.read("tensor") == b"0123456789"
    assert reads == [("tensor", start) for start in (0, 4, 8)]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("remote.forbidden", "credentials"),
        ("remote.gone", "store no longer has the file"),
        ("other", "does not respond"),
    ],
)
def test_what_the_store_does_not_give_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, reason: str, text: str
) -> None:
    store.put(tensor=b"content")

    def refuse(_store: RemoteStore, _file: RemoteFile, _start: int, _end: int) -> bytes:
        raise StoreError(reason)

    monkeypatch.setattr(RemoteStore, "read", refuse)
    with pytest.raises(OSError, match=text):
        store.read("tensor")


def test_a_store_that_fails_is_left_alone_for_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(first=b"1", second=b"2", third=b"3")
    addresses: list[str] = []

    def fail(_store: RemoteStore, file: RemoteFile, _start: int, _end: int) -> bytes:
        addresses.append(file.address)
        raise StoreError("remote.gone" if file.address.endswith("first") else "remote.forbidden")

    monkeypatch.setattr(placeholders, "AHEAD", 0)
    monkeypatch.setattr(RemoteStore, "read", fail)
    for name, text in (("first", "no longer"), ("second", "credentials"), ("third", "credentials")):
        with pytest.raises(OSError, match=text):
            store.read(name)
    assert [address.rpartition("/")[2] for address in addresses] == ["first", "second"]


def test_a_file_that_became_shorter_is_not_read_half(store: Store) -> None:
    store.put(tensor=b"content")
    store.files.pipe_file(f"{store.url}/dump/tensor", b"con")
    with pytest.raises(OSError, match="became shorter"):
        store.read("tensor")


def test_a_full_disk_is_said_and_leaves_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(tensor=b"content")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(1, 1, placeholders.ROOM + 6))
    with pytest.raises(OSError, match="no room"):
        store.read("tensor")


def test_what_was_fetched_first_makes_room(
    store: Store, reads: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placeholders, "AHEAD", 0)
    store.put(first=b"1", second=b"2")
    store.read("first")
    store.read("second")
    free = iter([2 * placeholders.ROOM - 1, 2 * placeholders.ROOM])
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _path: Usage(1, 1, next(free)))
        make_room(store.copy)
    assert [store.read(name) for name in ("first", "second")] == [b"1", b"2"]
    assert [name for name, _ in reads] == ["first", "second", "first"]


def test_a_file_of_a_user_with_the_sticky_bit_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    path.chmod(0o1600)
    with open_stream(path) as stream:
        assert stream.read() == b"content"
    assert not fetch(str(path))


class Attack:
    """A base directory in which somebody put a catalogue of placeholders that names a file of ours."""

    def __init__(self, folder: Path) -> None:
        self.secret = folder / "secret"
        self.secret.write_bytes(b"of ours alone")
        self.base = folder / "shared" / "runs"
        self.base.mkdir(parents=True)
        self.path = self.base / "tensor"
        file = RemoteFile(str(self.secret), 13, 1.0, "")
        PlaceholderIndex(self.base).put(f"file://{folder}", {"tensor": file}, ())
        put_placeholder(self.base, "tensor", file)

    def before(self) -> dict[str, tuple[int, int]]:
        files = sorted(self.base.parent.rglob("*"))
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def test_a_catalogue_below_a_base_directory_is_not_believed(tmp_path: Path) -> None:
    attack = Attack(tmp_path)
    before = attack.before()
    with pytest.raises(OSError, match="placeholder of a file in a store"):
        open_stream(attack.path)
    assert not fetch(str(attack.path))
    assert attack.before() == before


def test_a_link_in_place_of_a_part_is_not_written_through(store: Store, tmp_path: Path) -> None:
    store.put(tensor=b"content")
    victim = tmp_path / ".bashrc"
    victim.write_text("mine")
    file = RemoteStore(store.url, threading.Event()).list_files()["dump/tensor"]
    placeholders.part_path(store.copy, "dump/tensor", file).symlink_to(victim)
    with pytest.raises(OSError):
        store.read("tensor")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777])
def test_a_copy_that_others_can_reach_is_not_believed(store: Store, mode: int) -> None:
    store.put(tensor=b"content")
    store.copy.parent.chmod(mode)
    with pytest.raises(OSError, match="other users can write"):
        store.read("tensor")


def test_a_catalogue_with_a_view_is_refused_at_once(store: Store) -> None:
    store.put(tensor=b"content")
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    with closing(sqlite3.connect(store.copy.with_name(placeholders.CATALOGUE))) as database:
        database.executescript(f"DROP TABLE store; CREATE VIEW store(url) AS {endless}")
    with pytest.raises(OSError, match="is not trusted"):
        store.read("tensor")
