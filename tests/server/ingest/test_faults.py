"""What goes wrong on real machines: what can be kept is kept, and what can be had again comes back."""

import dataclasses
import errno
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.files import opener
from mindinsight.server.formats import events as events_format
from mindinsight.server.ingest import folder_tree as directories
from mindinsight.server.ingest import piece_reader
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.ingest.run_discovery import DiscoveredRun
from mindinsight.server.ingest.run_stage import RunStage
from mindinsight.server.types import DecodedSection, ScalarBlock
from tests.narrowing import require


def errors(store: Any, run: str = "./a") -> list[Any]:
    return [file.error for file in store.snapshot().runs[run].files]


@pytest.fixture
def no_descriptors(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Every open fails as if descriptors had run out."""

    def begin() -> None:
        def refuse(*args: Any, **kwargs: Any) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(opener, "_open_at_once", lambda *args: -1)
        monkeypatch.setattr(opener.os, "open", refuse)  # type: ignore[attr-defined]

    return begin


def test_descriptors_run_out_and_come_back(
    base: Any,
    events: Any,
    loader: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
    no_descriptors: Callable[..., Any],
) -> None:
    path = events.file(base / "a", events.records(1))
    loader.load()
    events.append(path, events.records(2))
    no_descriptors()
    loader.load()
    snapshot = store.snapshot()
    assert steps() == [1]
    assert {trouble.reason for trouble in snapshot.errors} == {"directory.unreadable"}
    monkeypatch.undo()
    loader.load()
    assert (steps(), store.snapshot().errors) == ([1, 2], ())


def test_a_file_that_could_not_be_opened_is_tried_again(
    base: Any, events: Any, loader: Any, store: Any, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.file(base / "a", events.records(1))
    monkeypatch.setattr("mindinsight.server.ingest.catalogue.RETRY", 0.0)

    opened = piece_reader.opened  # type: ignore[attr-defined]
    refused: list[Any] = []

    def refuse_once(*args: Any) -> Any:
        if not refused:
            refused.append(args)
            raise OSError(errno.EIO, "Input/output error")
        return opened(*args)

    monkeypatch.setattr(piece_reader, "opened", refuse_once)
    loader.load()
    assert errors(store) == ["file.unreadable"]
    loader.load()
    assert (steps(), errors(store)) == ([1], [""])


def test_a_file_removed_while_it_is_read(
    base: Any, events: Any, loader: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", events.records(1))
    opened = piece_reader.opened  # type: ignore[attr-defined]

    def remove_first(*args: Any) -> Any:
        path.unlink(missing_ok=True)
        return opened(*args)

    monkeypatch.setattr(piece_reader, "opened", remove_first)
    loader.load()
    assert errors(store) == ["file.gone"]
    loader.load()
    assert store.snapshot().runs == {}


def test_a_clock_set_back_hides_nothing(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    path = events.file(base / "a", events.records(1))
    os.utime(path, (2_000_000_000, 2_000_000_000))
    loader.load()
    events.append(path, events.records(2))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    loader.load()
    assert steps() == [1, 2]
    os.utime(base / "a", (1, 1))
    events.file(base / "a", events.records(3), seconds=1_800_000_000)
    os.utime(base / "a", (1, 1))
    loader.load()
    assert steps() == [1, 2, 3]


def test_noise_of_every_size_is_harmless(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    random = np.random.default_rng(3)
    for number, size in enumerate((1, 11, 12, 16, 100, 5000, 70_000)):
        events.file(base / f"noise{number}", random.bytes(size))
    events.file(base / "zeros", bytes(5000))
    events.file(base / "a", events.records(1))
    loader.load()
    assert steps() == [1]
    for run in store.snapshot().runs.values():
        assert run.id == "./a" or dict(run.scalars) == {}
        assert all(file.read + file.pending == file.size for file in run.files)


def test_odd_tags_harm_nothing(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    tags = ["x" * 10_000, "<script>alert(1)</script>", "../../etc/passwd", "", "a\x00b", "权重 🎉", "{}[]%s"]
    content = b"".join(events.record(1, **{tag: 1.0}) for tag in tags)
    events.file(base / "a", content)
    loader.load()
    assert set(store.snapshot().runs["./a"].scalars) == set(tags)


@pytest.fixture
def secret(events: Any, tmp_path: Path) -> Any:
    return events.file(tmp_path / "outside", events.records(1))


def test_pipes_and_links_named_like_event_files_are_named_and_not_opened(
    base: Any, events: Any, loader: Any, store: Any, secret: Any
) -> None:
    name = events.name.format(5)
    for folder in ("pipe", "link", "lineage"):
        (base / folder).mkdir()
    os.mkfifo(base / "pipe" / name)
    (base / "link" / name).symlink_to(secret)
    (base / "lineage" / f"{name}_lineage").symlink_to(secret)
    (base / "folder" / name).mkdir(parents=True)
    loader.load()
    file_errors = {run.id: [file.error for file in run.files] for run in store.snapshot().runs.values()}
    assert file_errors.pop("./pipe") == ["file.not_a_file"]
    assert file_errors == {name: ["file.link"] for name in ("./link", "./lineage")}
    assert not any(run.scalars for run in store.snapshot().runs.values())


def test_a_file_that_became_a_link_is_not_opened(
    base: Any, events: Any, loader: Any, store: Any, secret: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", events.records(5))
    looked = directories.list_folder

    def swap(folder: Any, now: Any) -> Any:
        result = looked(folder, now)
        if folder.endswith("/a"):
            path.unlink()
            path.symlink_to(secret)
        return result

    monkeypatch.setattr("mindinsight.server.ingest.folder_tree.list_folder", swap)
    loader.load()
    assert dict(store.snapshot().runs["./a"].scalars) == {}
    assert errors(store) == ["file.link"]


def test_a_file_that_becomes_a_link_while_it_is_read_leads_nowhere(
    base: Any, events: Any, loader: Any, steps: Any, secret: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", events.records(5))
    decode = events_format.read_section

    def swap(*args: Any) -> Any:
        path.unlink()
        path.symlink_to(secret)
        return decode(*args)

    monkeypatch.setattr(events_format, "read_section", swap)
    loader.load()
    assert steps() == [5]


KILLED = """
import sys
from pathlib import Path
from mindinsight.server.settings import Settings
from mindinsight.server.ingest import index_cache as cache_file
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.store.store import Store

def end(self):
    import os
    self._file.flush()
    os._exit(9)

cache_file.CacheFileWriter.finish = end
loader = Loader(Settings(Path(sys.argv[1]), Path(sys.argv[2]), reload_interval=0), Store())
loader.start()
loader._thread.join()
"""


def test_a_server_killed_while_it_writes_the_cache(
    base: Any, events: Any, settings: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1, 2))
    command = [sys.executable, "-c", KILLED, str(base), str(settings.workspace)]
    assert subprocess.run(command, check=False).returncode == 9
    assert list(settings.workspace.rglob("*.pack")) == []
    loader = Loader(dataclasses.replace(settings, reload_interval=0), store)
    loader.start()
    require(loader._thread).join()
    assert steps() == [1, 2]
    assert len(list(settings.workspace.rglob("*.pack"))) == 1


def folded(tags: Any, steps: Any, pieces: Any, walls_apart: bool = False) -> Any:
    """Bytes that a run of ``tags`` and ``steps`` takes when it came in so many pieces."""
    stage = RunStage(DiscoveredRun("./a", "./a", "/a", "a", "./a", None, 0.0, 0.0, {}, ()))
    file = FileStage("summary.1.h", "/a/summary.1.h", Stamp(1, 1, 1, 1, 1)._replace(size=pieces))
    stage.add(file)
    tracemalloc.start()
    try:
        for number in range(pieces):
            rows = np.arange(number * steps // pieces, (number + 1) * steps // pieces)
            values = np.zeros((tags, len(rows)), np.float32)
            names = [(str(tag),) for tag in range(tags)] if walls_apart else [tuple(map(str, range(tags)))]
            blocks = tuple(
                ScalarBlock(tags, rows, rows.copy(), rows + 0.5 * shift, values[shift : shift + len(tags)])
                for shift, tags in enumerate(names)
            )
            stage.fold(file, DecodedSection(number + 1, 0, len(rows), blocks))
            del rows, values, blocks
        run, _ = stage.publish(1)
        assert sum(series.count for series in run.scalars.values()) == tags * steps
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pieces", [1, 3, 7, 40])
@pytest.mark.parametrize(("tags", "steps", "most"), [(1, 1_000_000, 25.5e6), (10, 100_000, 8e6)])
def test_a_million_points_take_at_most_25_megabytes(pieces: int, tags: int, steps: int, most: float) -> None:
    assert folded(tags, steps, pieces) < most


@pytest.mark.parametrize("pieces", [1, 7])
def test_steps_of_tags_with_wall_times_of_their_own_are_held_once(pieces: int) -> None:
    assert folded(10, 100_000, pieces, walls_apart=True) < 14.5e6
