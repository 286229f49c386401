"""Record files of stores: what readers find after each sync, and what a store that fails costs."""

import logging
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from mindinsight.proto.summary_pb2 import Event
from mindinsight.writer import SummaryCollector, SummaryRecord
from mindinsight.writer.callbacks import CallbackList, RunContext
from mindinsight.writer.files import remote_file
from mindinsight.writer.files.event_file import FileName
from mindinsight.writer.files.remote_file import RemoteRecordFile, is_url
from mindinsight.writer.options import directory
from tests.writer.conftest import records_in

NOW = 1_700_000_000
NAME = FileName(Path(), "events", 0, "_MS")


@pytest.fixture
def url() -> Iterator[str]:
    url = f"memory://{uuid.uuid4().hex}"
    yield url
    if fsspec.filesystem("memory").exists(url):
        fsspec.filesystem("memory").rm(url, recursive=True)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """A store in memory that refuses while the value is set."""
    state = {"refuses": False}
    put = fsspec.implementations.memory.MemoryFileSystem.pipe_file

    def refuse(store: Any, *arguments: Any, **options: Any) -> None:
        if state["refuses"]:
            raise PermissionError("key-sesame")
        put(store, *arguments, **options)

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFileSystem, "pipe_file", refuse)
    return state


def contents(url: str) -> list[bytes]:
    store, root = fsspec.core.url_to_fs(url)
    return [store.cat_file(path) for path in sorted(store.find(root))]


def steps(url: str) -> list[int]:
    """Steps of all events below a URL, in the order of the files."""
    store, root = fsspec.core.url_to_fs(url)
    files = sorted(path for path in store.find(root) if path.endswith("_MS"))
    records = [record for path in files for record in records_in(store.cat_file(path))[0]]
    return [event.step for event in map(Event.FromString, records) if event.summary.value]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/run", True),
        ("zip://::s3://b/a.zip", True),
        ("./s3:/x", False),
        ("C:/x", False),
        (Path("a"), False),
    ],
)
def test_urls_are_told_from_paths(text: object, expected: bool) -> None:
    assert is_url(text) is expected


@pytest.mark.parametrize(
    "text", ["s3://user:secret@bucket/run", "https://host/run?token=secret", "nosuch://x/y"]
)
def test_what_is_no_store_is_refused_without_its_secret(text: str) -> None:
    with pytest.raises(ValueError, match="log_dir") as error:
        SummaryRecord(text)
    assert "secret" not in str(error.value)


def test_only_recorders_and_collectors_take_a_url() -> None:
    with pytest.raises(ValueError, match="only SummaryRecord"):
        directory("memory://run")
    with pytest.raises(ValueError, match="not exported"):
        SummaryRecord("memory://run", export_options={"tensor_format": "npy"})
    with pytest.raises(ValueError, match="collect_landscape"):
        SummaryCollector(
            "memory://run",
            collect_specified_data={"collect_landscape": {"landscape_size": 4, "intervals": [[1, 2]]}},
        )


def test_records_are_there_after_a_sync_and_files_grow(url: str) -> None:
    file = RemoteRecordFile(url, NAME, NOW, first_record=lambda: b"v")
    assert file.append([b"a", b"b"]) == (2, None)
    assert not fsspec.filesystem("memory").exists(url)
    assert file.sync() is None
    assert contents(url) == [b"vab"]
    file.append([b"c"])
    file.sync()
    file.sync()
    assert contents(url) == [b"vabc"]
    file.close()
    file.append([b"d"])
    file.close()
    assert contents(url) == [b"vabc", b"vd"]


def test_a_full_part_is_followed_by_a_next_file(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "PART", 4)
    file = RemoteRecordFile(url, NAME, NOW)
    assert file.append([b"aa", b"bb", b"cccccc", b"d"]) == (4, None)
    file.close()
    assert contents(url) == [b"aabb", b"cccccc", b"d"]


def test_a_name_that_is_taken_is_left_alone(url: str) -> None:
    files = [RemoteRecordFile(url, NAME, NOW) for _ in range(2)]
    for number, file in enumerate(files):
        file.append([b"%d" % number])
        file.sync()
    assert contents(url) == [b"0", b"1"]


def test_a_store_that_is_a_file_system_is_appended_to(tmp_path: Path) -> None:
    file = RemoteRecordFile(f"file://{tmp_path}", NAME, NOW)
    file.append([b"first"])
    file.sync()
    (path,) = tmp_path.iterdir()
    inode = path.stat().st_ino
    file.append([b"second"])
    file.sync()
    assert (path.read_bytes(), path.stat().st_ino) == (b"firstsecond", inode)


def test_what_a_store_refuses_is_kept_and_put_later(
    url: str, refusing: dict[str, bool], caplog: pytest.LogCaptureFixture
) -> None:
    record = SummaryRecord(url, flush_seconds=3600, raise_exception=True)
    refusing["refuses"] = True
    for step in range(3):
        record.add_value("scalar", "loss", float(step))
        record.record(step)
    with caplog.at_level(logging.ERROR), pytest.raises(OSError, match="PermissionError"):
        record.flush()
    assert steps(url) == []
    assert len([entry for entry in caplog.records if "cannot write" in entry.message]) == 1
    assert "sesame" not in caplog.text
    refusing["refuses"] = False
    record.flush()
    assert steps(url) == [0, 1, 2]
    record.close()


def test_what_cannot_be_put_in_the_end_is_said(
    url: str, refusing: dict[str, bool], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(remote_file, "_LAST_WAITS", (0.0, 0.0))
    with caplog.at_level(logging.ERROR):
        record = SummaryRecord(url)
        refusing["refuses"] = True
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        record.close()
    assert "some records are missing from" in caplog.text


def test_every_rank_has_a_folder_and_a_collector_writes_there(url: str) -> None:
    with SummaryRecord(url, rank=3) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(7)
    assert steps(f"{url}/rank_3") == [7]
    context = RunContext(
        {"mode": "train", "cur_step_num": 1, "cur_epoch_num": 1, "batch_num": 1, "net_outputs": 0.5}
    )
    with CallbackList([SummaryCollector(f"{url}/collected", collect_freq=1)]) as callbacks:
        callbacks.on_train_begin(context)
        callbacks.on_train_step_end(context)
    assert steps(f"{url}/collected") == [0, 1]  # the program, and the step


def test_nothing_flushed_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    script = """
import os, sys
from mindinsight.writer import SummaryRecord
record = SummaryRecord(sys.argv[1], flush_seconds=0.01)
for step in range(10 ** 6):
    record.add_value("scalar", "loss", float(step))
    record.record(step)
    if step % 10 == 9:
        record.flush()
        os.write(1, b"%d\\n" % step)
"""
    command = [sys.executable, "-c", script, f"file://{tmp_path}/run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        stdout = process.stdout
        assert stdout is not None
        lines = [stdout.readline() for _ in range(20)]
        os.kill(process.pid, 9)
        lines += stdout.readlines()
    flushed = int([line for line in lines if line.endswith(b"\n")][-1])
    recorded = steps(f"file://{tmp_path}/run")
    assert recorded == list(range(len(recorded)))
    assert len(recorded) > flushed
