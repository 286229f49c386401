"""Large files of a store, of which only what is read is fetched."""

import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.files import placeholders
from mindinsight.server.files.opener import open_stream, opened
from mindinsight.server.files.placeholders import BLOCK, PlaceholderIndex, put_placeholder
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore, StoreError
from mindinsight.server.formats.file_bytes import FileBytes, allocated_bytes, read_bytes
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.mindspore_checkpoints import CheckpointFile, verify_checksum
from mindinsight.server.formats.weights.safetensors import open_safetensors, safetensor_values
from tests.server.files.test_placeholders import Store, Usage

CONTENT = np.random.default_rng(0).bytes(10 * BLOCK + 77)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(placeholders, "LARGE", 4 * BLOCK)
    store = Store(tmp_path)
    yield store
    store.files.rm(store.url, recursive=True)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Ranges read from the store, in blocks."""
    ranges: list[tuple[int, int]] = []
    read = RemoteStore.read

    def note(store: RemoteStore, file: RemoteFile, start: int, end: int) -> bytes:
        ranges.append((start // BLOCK, -(-end // BLOCK)))
        return read(store, file, start, end)

    monkeypatch.setattr(RemoteStore, "read", note)
    return ranges


def test_only_the_blocks_that_are_read_are_fetched_and_each_once(
    store: Store, reads: list[tuple[int, int]]
) -> None:
    store.put(weights=CONTENT)
    for _ in range(2):
        with open_stream(store.path("weights")) as stream:
            assert read_bytes(stream, 5 * BLOCK - 3, 10).tobytes() == CONTENT[5 * BLOCK - 3 :][:10]
            assert FileBytes(stream).slice(BLOCK, BLOCK + 9) == CONTENT[BLOCK : BLOCK + 9]
            assert stream.seek(0, os.SEEK_END) == len(CONTENT)
            assert allocated_bytes(stream) is None
    assert reads == [(4, 6), (1, 2)]
    with open_stream(store.path("weights")) as stream:
        stream.seek(-5, os.SEEK_END)
        assert stream.read() == CONTENT[-5:]
        assert stream.read(1) == b""
    assert reads[2:] == [(10, 11)]


def test_a_file_of_which_everything_was_read_is_a_file_like_others(
    store: Store, reads: list[tuple[int, int]]
) -> None:
    store.put(weights=CONTENT)
    with open_stream(store.path("weights")) as stream:
        stream.seek(3 * BLOCK)
        stream.read(1)
        stream.seek(0)
        assert stream.read() == CONTENT
    assert sum(high - low for low, high in reads) == 11
    count = len(reads)
    with opened(store.path("weights")) as descriptor:
        assert os.pread(descriptor, len(CONTENT), 0) == CONTENT
    assert store.path("weights").read_bytes() == CONTENT
    assert len(reads) == count
    assert not [path for path in store.copy.parent.rglob("*") if path.suffix in (".ranges", ".blocks")]


def test_a_descriptor_is_of_the_whole_file(store: Store) -> None:
    store.put(weights=CONTENT)
    with open_stream(store.path("weights")) as stream:
        stream.read(1)
    with opened(store.path("weights")) as descriptor:
        assert os.pread(descriptor, len(CONTENT), 0) == CONTENT


def test_many_readers_at_once_fetch_each_block_once(store: Store, reads: list[tuple[int, int]]) -> None:
    store.put(weights=CONTENT)

    def read(number: int) -> bytes:
        with open_stream(store.path("weights")) as stream:
            stream.seek(number % 4 * BLOCK)
            return stream.read(BLOCK)

    with ThreadPoolExecutor(8) as executor:
        for number, content in enumerate(executor.map(read, range(32))):
            assert content == CONTENT[number % 4 * BLOCK :][:BLOCK]
    assert sum(high - low for low, high in reads) == 4


def test_the_header_of_safetensors_costs_one_block(store: Store, reads: list[tuple[int, int]]) -> None:
    values = np.arange(2 * BLOCK, dtype=np.float32)
    head = f'{{"w":{{"dtype":"F32","shape":[{len(values)}],"data_offsets":[0,{values.nbytes}]}}}}'.encode()
    store.put(model=len(head).to_bytes(8, "little") + head + values.tobytes())
    file = open_safetensors(store.path("model"))
    assert reads == [(0, 1)]
    (piece,) = list(safetensor_values(file, "w").pieces())[1:2]
    assert piece[0] == 1 << 18
    assert (0, 1) not in reads[1:]


def test_a_checksum_is_no_reason_to_fetch_a_checkpoint(
    store: Store, reads: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(weights=CONTENT)
    file = CheckpointFile(store.path("weights"), {}, checksum=1)
    assert verify_checksum(file) is None
    assert reads == []


@pytest.mark.parametrize(
    ("reason", "text"),
    [("remote.forbidden", "denies access"), ("remote.gone", "no longer"), ("x", "not respond")],
)
def test_what_the_store_does_not_give_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, reason: str, text: str
) -> None:
    store.put(weights=CONTENT)

    def fail(*_: object) -> bytes:
        raise StoreError(reason)

    monkeypatch.setattr(RemoteStore, "read", fail)
    with open_stream(store.path("weights")) as stream, pytest.raises(OSError, match=text):
        stream.read(1)


def test_a_file_that_became_shorter_is_not_read_half(store: Store) -> None:
    store.put(weights=CONTENT)
    store.files.pipe_file(f"{store.url}/dump/weights", CONTENT[:100])
    with open_stream(store.path("weights")) as stream, pytest.raises(OSError, match="shorter"):
        stream.read(200)


def test_a_full_disk_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(weights=CONTENT)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10, 10, 0))
    with open_stream(store.path("weights")) as stream, pytest.raises(OSError, match="no room"):
        stream.read(1)


def test_who_reads_goes_on_while_room_is_made(store: Store) -> None:
    store.put(weights=CONTENT)
    files = RemoteStore(store.url, threading.Event()).list_files()
    with open_stream(store.path("weights")) as stream:
        first = stream.read(BLOCK)
        put_placeholder(store.copy, "dump/weights", files["dump/weights"])
        stream.seek(0)
        assert stream.read(3 * BLOCK) == CONTENT[: 3 * BLOCK]
    assert first == CONTENT[:BLOCK]
    assert PlaceholderIndex(store.copy).fetched()
    assert store.read("weights") == CONTENT


def test_a_stretch_behind_the_end_is_unreadable(store: Store) -> None:
    store.put(weights=CONTENT)
    with open_stream(store.path("weights")) as stream, pytest.raises(UnreadableError, match="truncated"):
        read_bytes(stream, len(CONTENT) - 1, 2)


def test_a_position_is_refused_as_by_other_files(store: Store) -> None:
    store.put(weights=CONTENT)
    with open_stream(store.path("weights")) as stream:
        stream.seek(3)
        with pytest.raises(ValueError, match="negative seek position -1"):
            stream.seek(-1)
        with pytest.raises(ValueError, match="negative seek position"):
            stream.seek(-len(CONTENT) - 1, os.SEEK_END)
        with pytest.raises(ValueError, match="whence"):
            stream.seek(0, 9)
        assert stream.tell() == 3
