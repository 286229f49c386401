import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.cancellation import Cancelled, Token, under
from mindinsight.server.files import opener
from mindinsight.server.files.opener import (
    LinkError,
    SpecialFileError,
    entries_of,
    files_of,
    folders_of,
    names_of,
    open_file,
    open_stream,
    opened,
    read_at,
    refused_in,
)

SECRET = b"secret"
TRIES = 3000


@pytest.fixture
def base(tmp_path: Path) -> Any:
    """A base directory with ``a/b/file``, and a secret beside the base."""
    base = tmp_path / "base"
    (base / "a" / "b").mkdir(parents=True)
    (base / "a" / "b" / "file").write_bytes(b"content")
    (tmp_path / "outside" / "b").mkdir(parents=True)
    (tmp_path / "outside" / "b" / "file").write_bytes(SECRET)
    return base


def test_a_file_is_read_below_folders(base: Any) -> None:
    path = base / "a" / "b" / "file"
    with opened(path) as descriptor:
        assert read_at(descriptor, 3, 100) == b"tent"
    with open_stream(str(path)) as stream:
        assert stream.read() == b"content"
    with entries_of(base / "a") as entries:
        assert [entry.name for entry in entries] == ["b"]


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/file"])
def test_a_link_in_any_place_is_refused(base: Any, name: str) -> None:
    path = base / name
    path.rename(base / "moved")
    path.symlink_to(base / "moved")
    with pytest.raises(LinkError, match="links are not followed"):
        open_file(base / "a" / "b" / "file")


@pytest.mark.parametrize("name", ["", "a", "a/b", "a/b/file"])
def test_paths_are_walked_where_one_call_does_not_do(base: Any, monkeypatch: Any, name: str) -> None:
    file = base / "a" / "b" / "file"
    descriptors = []
    for at_once in (opener._open_at_once, lambda path, flags: -1):
        monkeypatch.setattr(opener, "_open_at_once", at_once)
        descriptors.append(open_file(file))
    identities = [(os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    assert identities[0] == identities[1]
    if name:
        (base / name).rename(base / "moved")
        (base / name).symlink_to(base / "moved")
        with pytest.raises(LinkError, match="links are not followed"):
            open_file(file)


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/file"])
def test_one_call_opens_no_link(base: Any, name: str) -> None:
    file = base / "a" / "b" / "file"
    (base / name).rename(base / "moved")
    (base / name).symlink_to(base / "moved")
    assert opener._open_at_once(str(file), os.O_RDONLY) == -1
    assert opener._open_at_once(f"{base}/moved\0/file", os.O_RDONLY) == -1


@pytest.mark.parametrize("name", ["a", "a/b"])
def test_folders_are_not_listed_through_links(base: Any, name: str) -> None:
    path = base / name
    path.rename(base / "moved")
    path.symlink_to(base / "moved")
    with pytest.raises(LinkError), entries_of(base / "a" / "b"):
        pass


def test_pipes_sockets_devices_and_folders_are_no_files(base: Any) -> None:
    os.mkfifo(base / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(base / "socket"))
        for path in (base / "pipe", base / "socket", "/dev/null", base / "a"):
            with pytest.raises(SpecialFileError, match="not a regular file"):
                open_file(path)


@pytest.mark.parametrize(
    "name", ["nul\0", "\ud800", "x" * 300, "file/inner", "../outside/b/file", "gone", ""]
)
def test_names_that_lead_nowhere(base: Any, name: Any) -> None:
    with pytest.raises(OSError) as caught:
        open_file(f"{base}/a/b/{name}")
    assert caught.value.errno


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left_open(base: Any) -> None:
    (base / "link").symlink_to(base / "a")
    os.mkfifo(base / "pipe")
    before = descriptors()
    for path in ("link", "link/b/file", "pipe", "a/gone/file", "a/b/file/inner"):
        with pytest.raises(OSError):
            open_file(base / path)
    with opened(base / "a" / "b" / "file"), entries_of(base / "a"):
        pass
    assert descriptors() == before


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/file"])
def test_nothing_leaks_while_a_link_comes_and_goes(base: Any, tmp_path: Path, name: str) -> None:
    """A folder or the file is swapped for a link to what lies outside, again and again, while it is read."""
    path, link, real = base / name, base / "link", base / "real"
    link.symlink_to(
        (tmp_path / "outside" / Path(name).relative_to("a")) if name != "a" else tmp_path / "outside"
    )
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            path.rename(real)
            link.rename(path)
            path.rename(link)
            real.rename(path)

    thread = threading.Thread(target=swap)
    thread.start()
    read, refused = 0, 0
    try:
        for _ in range(TRIES):
            try:
                with opened(base / "a" / "b" / "file") as descriptor:
                    assert read_at(descriptor, 0, 100) == b"content"
                    read += 1
            except OSError:
                refused += 1
    finally:
        done.set()
        thread.join()
    assert read + refused == TRIES
    assert refused


@pytest.mark.parametrize("opening", ["opened", "open_stream", "entries_of"])
def test_what_is_no_longer_wanted_opens_nothing(base: Path, opening: str) -> None:
    path = base / "a" if opening == "entries_of" else base / "a" / "b" / "file"
    token, before = Token(), descriptors()
    token.cancel()
    with under(token), pytest.raises(Cancelled), getattr(opener, opening)(path):
        pass
    assert descriptors() == before


def test_files_and_folders_apart(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    assert folders_of(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert files_of(tmp_path) == ["file"]
    assert sorted(names_of(tmp_path)) == ["a", "b", "file"]
    assert list(refused_in(tmp_path)) == []


def test_links_and_pipes_are_named_and_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").touch()
    (inside / "file").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    assert files_of(inside) == []
    assert folders_of(inside) == []
    assert sorted(refused_in(inside)) == [("file", "link"), ("folder", "link"), ("pipe", "not_a_file")]


def test_nothing_is_listed_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert files_of(tmp_path / "link") == names_of(tmp_path / "link") == folders_of(tmp_path / "link") == []
    assert list(refused_in(tmp_path / "link")) == [("", "link")]


def test_what_is_gone_has_nothing_inside(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert folders_of(gone) == files_of(gone) == names_of(gone) == list(refused_in(gone)) == []
