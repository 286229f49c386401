"""A restart reads only what is new, and trusts nothing that could be wrong."""

import dataclasses
import json
import mmap
import os
import stat
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis.extra import numpy as arrays

from mindinsight.server.errors import Gone
from mindinsight.server.ingest import file_stage, piece_reader
from mindinsight.server.ingest import index_cache as cache
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.index_cache import (
    FORMAT,
    CacheFile,
    CacheFileWriter,
    StaleError,
    decode_file,
    encode_file,
)
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.ingest.piece_reader import SectionRequest, read_file_section
from mindinsight.server.store.store import Store
from tests.narrowing import require


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Which pieces of which files are decoded: (name of the run, offset)."""
    pieces = []
    decode = piece_reader._read_events

    def noted(descriptor: Any, request: Any) -> Any:
        if request.size:
            pieces.append((request.path.split("/")[-2], request.offset))
        return decode(descriptor, request)

    monkeypatch.setattr(piece_reader, "_read_events", noted)
    return pieces


@pytest.fixture
def restart(settings: Any, read: Any) -> Callable[..., Any]:
    """A server that starts, reads everything and ends; the snapshot it had."""

    def once(**changes: Any) -> Any:
        store = Store()
        loader = Loader(dataclasses.replace(settings, reload_interval=0, **changes), store)
        del read[:]
        loader.start()
        require(loader._thread).join()
        loader.stop()
        return store.snapshot()

    return once


@pytest.fixture
def packs(settings: Any) -> Callable[..., Any]:
    return lambda: sorted((settings.workspace / "cache").glob("*/*.pack"))


def seen(snapshot: Any) -> dict[Any, Any]:
    """Everything readers can see of the series, in plain values."""
    return {
        name: (
            {tag: [column.tolist() for column in _columns(run.scalars[tag])] for tag in sorted(run.scalars)},
            {
                (kind, tag): [(series.reference(row), series.steps[row]) for row in range(series.count)]
                for kind, tags in sorted(run.references.items())
                for tag, series in sorted(tags.items())
            },
            [dataclasses.replace(file, modified=0.0) for file in run.files],
        )
        for name, run in sorted(snapshot.runs.items())
    }


def _columns(series: Any) -> tuple[Any, ...]:
    columns = series.columns()
    return columns.steps, columns.walls, columns.values, columns.starts, columns.files


@pytest.fixture
def written(base: Any, events: Any) -> list[Any]:
    """Two runs with a bit of everything: the paths of their files."""
    mixed = events.version() + b"".join(
        events.record(step, loss=step / 3, **({"acc": 0.5} if step % 2 else {})) for step in range(20)
    )
    mixed += events.record(20, image=("cat", b"P" * 50), tensor=("w", [1.0]), loss=float("nan"))
    broken = bytearray(events.records(1, 2, 3))
    broken[60] ^= 1
    return [
        events.file(base / "a", mixed, seconds=1),
        events.file(base / "a", events.records(5, 6), seconds=2),
        events.file(base / "b", bytes(broken) + events.records(4)[:-2]),
    ]


def test_a_restart_shows_the_same_and_decodes_nothing(
    written: list[Any], restart: Callable[..., Any], read: Any
) -> None:
    first = restart()
    assert len(read) == 3
    second = restart()
    assert read == []
    assert repr(seen(second)) == repr(seen(first))  # nan is not equal to itself
    assert "damage" in repr(seen(second))


def test_only_new_bytes_are_read_and_kept_in_turn(
    written: list[Any], restart: Callable[..., Any], read: Any, events: Any
) -> None:
    restart()
    size = written[1].stat().st_size
    events.append(written[1], events.records(7))
    snapshot = restart()
    assert read == [("a", size)]
    assert snapshot.runs["./a"].scalars["loss"].columns().steps.tolist()[-3:] == [5, 6, 7]
    restart()
    assert read == []


def test_a_half_written_record_is_completed_after_a_restart(
    written: list[Any], restart: Callable[..., Any], read: Any, events: Any
) -> None:
    restart()
    whole = events.records(4)
    events.append(written[2], whole[-2:])
    snapshot = restart()
    assert len(read) == 1
    assert snapshot.runs["./b"].scalars["loss"].last_step == 4
    assert snapshot.runs["./b"].files[0].pending == 0


@pytest.mark.parametrize("change", ["other bytes", "shorter", "healed", "copied", "touched", "gone"])
def test_a_file_that_is_not_the_one_that_was_read_is_read_afresh(
    change: str, written: list[Any], restart: Callable[..., Any], read: Any, events: Any
) -> None:
    restart()
    path = written[2]
    if change == "other bytes":
        path.write_bytes(events.records(7, 8, 9) + b" " * 50)
    elif change == "shorter":
        path.write_bytes(path.read_bytes()[:-20])
    elif change == "healed":
        path.write_bytes(events.records(1, 2, 3) + events.records(4)[:-2])
    elif change == "copied":
        copy = path.with_name("copy")
        copy.write_bytes(path.read_bytes())
        copy.replace(path)
    elif change == "touched":
        os.utime(path, (5, 5))
    else:
        path.unlink()
        events.file(path.parent, events.records(1), seconds=3)
    snapshot = restart()
    assert [run for run, _ in read] == ["b"]
    fresh = restart(cache=False)
    assert repr(seen(snapshot)) == repr(seen(fresh))


def test_a_closed_file_and_a_longer_copy_are_known_again(
    written: list[Any], restart: Callable[..., Any], read: Any, events: Any
) -> None:
    first = restart()
    written[0].chmod(0o400)
    size = written[1].stat().st_size
    copy = written[1].with_name("copy")
    copy.write_bytes(written[1].read_bytes() + events.records(7))
    copy.replace(written[1])
    second = restart()
    assert read == [("a", size)]
    losses = [snapshot.runs["./a"].scalars["loss"].columns().steps.tolist() for snapshot in (first, second)]
    assert losses[1] == [*losses[0], 7]
    assert second.runs["./a"].references["image"]["cat"].read(0).endswith(b"P" * 50)


@pytest.mark.parametrize("piece", range(12))
def test_a_damaged_cache_is_read_afresh(
    piece: Any, written: list[Any], restart: Callable[..., Any], packs: Callable[..., Any]
) -> None:
    """Bytes flipped in every part of the pack, and the pack cut: never a wrong value."""
    first = restart()
    (path,) = packs()
    data = bytearray(path.read_bytes())
    data[len(data) * piece // 12 + 3] ^= 0x10
    path.write_bytes(bytes(data) if piece % 2 else bytes(data[: len(data) - piece]))
    assert repr(seen(restart())) == repr(seen(first))
    assert repr(seen(restart())) == repr(seen(first))


def test_a_cache_entry_that_cannot_be_removed_hides_no_run(
    written: list[Any],
    restart: Callable[..., Any],
    read: Any,
    packs: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    restart()
    (folder,) = {pack.parent for pack in packs()}
    stuck = folder / "0.pack"
    stuck.mkdir()
    (stuck / "file").touch()
    for _ in range(2):
        assert sorted(restart().runs) == ["./a", "./b"]
    assert read == []
    assert stuck.is_dir()
    assert "cannot remove a file" in caplog.text


def test_names_that_are_not_text_are_known_again(
    base: Any, events: Any, restart: Callable[..., Any], read: Any
) -> None:
    folder = os.fsdecode(os.fsencode(base) + b"/\xff")
    path = events.file(Path(folder), events.records(1, 2), name="summary.{}.\udcfe.h")
    first = seen(restart())
    assert read == [(Path(folder).name, 0)]
    assert seen(restart()) == first
    assert read == []
    assert path.exists()


def test_a_cache_of_another_format_is_replaced(
    written: list[Any],
    restart: Callable[..., Any],
    read: Any,
    packs: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    restart()
    monkeypatch.setattr("mindinsight.server.ingest.index_cache.FORMAT", 0)
    restart()
    assert len(read) == 3
    assert len(packs()) == 1


def test_a_strange_note_counts_for_nothing(
    written: list[Any], restart: Callable[..., Any], read: Any, packs: Callable[..., Any]
) -> None:
    first = restart()
    (path,) = packs()
    notes: list[Any] = [{"name": 3}, [], [{}], [{"name": written[0].name, "read": "x"}], None]
    for note in notes:
        writer = CacheFileWriter(path)
        writer.run("./a", note)
        writer.finish()
        assert repr(seen(restart())) == repr(seen(first))
        for extra in packs():
            extra.unlink()


def test_the_cache_can_be_deleted_and_left_out(
    written: list[Any], restart: Callable[..., Any], read: Any, packs: Callable[..., Any], settings: Any
) -> None:
    first = restart()
    for path in packs():
        path.unlink()
    assert repr(seen(restart())) == repr(seen(first))
    for path in packs():
        path.unlink()
    restart(cache=False)
    assert packs() == []


def test_a_workspace_that_cannot_be_written_costs_only_the_cache(
    written: list[Any], restart: Callable[..., Any], settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.workspace.write_text("a file where the folder should be")
    assert set(restart().runs) == {"./a", "./b"}
    assert "cannot write the index cache" in caplog.text


def test_a_full_disk_leaves_no_half_pack(
    written: list[Any],
    restart: Callable[..., Any],
    packs: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(self: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CacheFileWriter, "finish", full)
    restart()
    assert "No space left on device" in caplog.text
    assert [path for path in settings.workspace.rglob("*") if path.is_file()] == []


def test_only_the_user_can_read_it(
    written: list[Any], restart: Callable[..., Any], packs: Callable[..., Any]
) -> None:
    restart()
    (path,) = packs()
    modes = [stat.S_IMODE(item.stat().st_mode) for item in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


def test_many_packs_are_made_one(
    written: list[Any], restart: Callable[..., Any], read: Any, packs: Callable[..., Any], events: Any
) -> None:
    first = restart()
    for number in range(8):
        events.append(written[1], events.records(10 + number))
        restart()
        assert len(packs()) <= 6
    assert restart().runs["./b"] is not None
    assert read == []
    assert len(seen(restart())["./a"][0]["loss"][0]) == len(seen(first)["./a"][0]["loss"][0]) + 8


def test_what_a_killed_server_left_is_removed_and_old_bases_are_forgotten(
    written: list[Any], restart: Callable[..., Any], settings: Any
) -> None:
    folder = settings.workspace / "cache" / "feedfeedfeedfeed"
    restart()
    own = next(entry for entry in (settings.workspace / "cache").iterdir())
    folder.mkdir()
    left, busy = own / ".1.pack.77", own / ".2.pack.78"
    for path in (left, busy):
        path.touch()
    month_ago = time.time() - 40 * 86400
    for path in (folder, left):
        os.utime(path, (month_ago, month_ago))
    restart()
    assert (folder.exists(), left.exists(), busy.exists()) == (False, False, True)


def test_a_run_that_grows_is_written_again_now_and_then(
    base: Any,
    events: Any,
    settings: Any,
    packs: Callable[..., Any],
    wait: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mindinsight.server.ingest.loader._SAVE", 0.01)
    monkeypatch.setattr(cache, "_MIN_GROWTH", 0)
    path = events.file(base / "a", events.records(*range(100)))
    store = Store()
    loader = Loader(settings, store)
    loader.start()
    assert wait(lambda: len(packs()) == 1)
    events.append(path, events.records(100))
    assert wait(lambda: store.snapshot().runs["./a"].scalars["loss"].last_step == 100)
    assert len(packs()) == 1
    events.append(path, events.records(*range(101, 200)))
    assert wait(lambda: len(packs()) == 2)
    loader.stop()


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays: list[Any] = [np.arange(5), np.array([1.5, np.nan], np.float32), np.zeros(0), np.arange(12.0)[::3]]
    writer = CacheFileWriter(tmp_path / "one")
    places = [writer.array(array) for array in arrays]
    writer.run("./a", {"any": places})
    writer.run("./empty", None)
    writer.finish()
    pack = CacheFile(tmp_path / "one")
    body = pack.body("./a")
    for array, reference in zip(arrays, pack.note("./a")["any"], strict=True):
        column = body.array(reference)
        assert (column.dtype, column.tobytes()) == (array.dtype, array.tobytes())
        assert not column.flags.writeable
    with pytest.raises(StaleError):
        body.array((8, 1000, "<i8"))
    pack.close()


def test_large_columns_are_mapped_after_reading_and_after_a_restart(
    base: Any, events: Any, restart: Any, read: Any
) -> None:
    content = b"".join(events.record(step, loss=step * 0.5, acc=0.25) for step in range(10_000))
    path = events.file(base / "a", content)
    first, second = restart(), restart()
    assert not read
    events.append(path, events.records(10_000, 10_001))
    third = restart()
    assert third.runs["./a"].scalars["loss"].columns().steps.tolist() == [*range(10_002)]
    assert seen(first)["./a"][0] == seen(second)["./a"][0]
    for snapshot in (first, second):
        series = snapshot.runs["./a"].scalars["loss"]
        assert _is_mapped(series.columns().values)
        assert series.columns().values.tolist() == [step * 0.5 for step in range(10_000)]


def _is_mapped(array: Any) -> bool:
    """Whether an array is a view of a mapped file."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, mmap.mmap)


KINDS = strategies.sampled_from([np.dtype(name) for name in ("<i8", "<f8", "<f4")])
COLUMNS = strategies.lists(
    KINDS.flatmap(lambda kind: arrays.arrays(kind, strategies.integers(0, 40))), min_size=1, max_size=6
)


def written_of_cache_file(path: Any, runs: Any) -> Any:
    """A pack of runs, each a list of arrays; the note of a run holds where they lie."""
    writer = CacheFileWriter(path)
    for name, columns in runs.items():
        writer.run(name, [writer.array(column) for column in columns])
    writer.finish()
    return path


def opened(path: Any) -> dict[Any, Any]:
    """Runs of a pack with the bytes of their arrays."""
    pack = CacheFile(path)
    try:
        return {run: _bytes(pack, run) for run in pack.runs}
    finally:
        pack.close()


def _bytes(pack: Any, run: Any) -> list[Any]:
    body = pack.body(run)
    return [(body.array(reference).dtype, body.array(reference).tobytes()) for reference in pack.note(run)]


@given(strategies.dictionaries(strategies.text(max_size=5), COLUMNS, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_read_is_what_was_written(tmp_path: Path, runs: Any) -> None:
    result = opened(written_of_cache_file(tmp_path / "one.pack", runs))
    assert result == {name: [(c.dtype, c.tobytes()) for c in columns] for name, columns in runs.items()}


CURVES: dict[str, tuple[Any, float]] = {  # and the bytes that a number takes at most
    "steps": (np.arange(0, 10**6, 100), 0.1),
    "steps that go back": (np.arange(10_000) % 4000, 2.1),
    "extremes": (np.array([-(2**63), 2**63 - 1] * 5000), 8.1),
    "wall times": (1.7e9 + 0.05 * np.arange(10_000) + np.random.default_rng(2).random(10_000) / 100, 3.1),
    "a constant": (np.full(10_000, np.float32(0.1)), 0.1),
    "a learning rate": (np.cos(np.linspace(0, 1.5, 10_000), dtype=np.float32), 2.1),
    "noise": (np.random.default_rng(3).standard_normal(10_000, np.float32), 4.1),
    "doubles": (np.random.default_rng(4).standard_normal(10_000), 8.1),
    "NaN of all kinds": (
        np.arange(-(2**31), 2**31, 2**32 // 10_000)[:10_000].astype(np.int32).view("f4"),
        4.1,
    ),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("rows", [1, 100])
def test_columns_take_as_few_bytes_as_their_differences(name: str, rows: int, tmp_path: Path) -> None:
    column, limit = CURVES[name]
    writer = CacheFileWriter(tmp_path / "one.pack")
    writer.run("./a", [writer.rows(column, rows)])
    writer.finish()
    pack = CacheFile(tmp_path / "one.pack")
    again = pack.body("./a").array(pack.note("./a")[0])
    assert (again.dtype, again.tobytes()) == (column.dtype, column.tobytes())
    assert not again.flags.writeable
    first = rows * column.itemsize / len(column)
    assert (tmp_path / "one.pack").stat().st_size <= (limit + first) * len(column) + 200
    pack.close()


def test_a_large_run_is_read_array_by_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_READ", 1 << 10)
    columns = [column for column, _ in CURVES.values()]
    path = written_of_cache_file(tmp_path / "one.pack", {"./a": columns})
    assert opened(path) == {"./a": [(column.dtype, column.tobytes()) for column in columns]}
    pack = CacheFile(path)
    for position in (("i8", 0, 10**6), ("i8", -8, 1), ("i8", 0, -1), ("O", 0, 1)):
        with pytest.raises(StaleError):
            pack.body("./a").array(position)
    pack.close()


@pytest.fixture
def path(tmp_path: Path) -> Any:
    return written_of_cache_file(tmp_path / "one.pack", {"./a": [np.arange(20)], "./b": [np.arange(7.0)]})


def test_a_pack_that_was_cut_anywhere_counts_for_nothing(path: Any) -> None:
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(StaleError):
            CacheFile(path)


def test_a_flipped_bit_anywhere_is_noticed_or_harmless(path: Any) -> None:
    whole, right = path.read_bytes(), opened(path)
    noticed = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        try:
            assert opened(path) == right
        except StaleError:
            noticed += 1
    assert noticed >= len(whole) - 16  # only the header before the first run is not looked at


def test_one_damaged_run_leaves_the_others(path: Any) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(bytes(data))
    pack = CacheFile(path)
    with pytest.raises(StaleError):
        pack.body("./a")
    assert pack.body("./b").array(pack.note("./b")[0]).tolist() == list(range(7))
    pack.close()


def test_until_it_is_whole_it_is_not_there(tmp_path: Path) -> None:
    writer = CacheFileWriter(tmp_path / "one.pack")
    writer.array(np.arange(5))
    assert not (tmp_path / "one.pack").exists()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_arrays_lie_where_a_processor_likes_them(path: Any) -> None:
    pack = CacheFile(path)
    for run in pack.runs:
        for dtype, at, length in pack.note(run):
            assert at % 8 == 0
            assert pack.body(run).array((dtype, at, length)).flags.aligned
    pack.close()


SHRUNK: list[tuple[Any, ...]] = [  # rows, lowest difference, place and bytes of the differences
    ("f4", 0, 8, 0, 0, 8, 1),
    ("f4", 0, 10, 3, 0, 8, 1),
    ("f4", 0, 8, 1, 2**70, 8, 1),
    ("f4", 0, 8, 1, 0, 8, 5),
    ("f4", 0, 2**60, 1, 0, 0, 0),
    ("f4", 0, 8, 1, 0, 10**6, 1),
    ("f4", 0, 8, 1, 0, 8),
]


@pytest.mark.parametrize(
    "reference",
    [("i8", 0, 10**6), ("i8", 10**6, 1), ("O", 0, 1), ("i8", 0, -1), ("?!", 0, 1), ("i8", 0), *SHRUNK],
)
def test_a_place_that_cannot_be_is_refused(reference: Any, path: Any) -> None:
    pack = CacheFile(path)
    with pytest.raises(StaleError):
        pack.body("./a").array(reference)
    pack.close()


def test_a_footer_that_promises_too_much_is_refused(path: Any) -> None:
    index = json.dumps({"./a": [0, 10**12, 0, []]}).encode()
    footer = struct.pack("=QQII8s", 16, len(index), zlib.crc32(index), FORMAT, b"MIcache\n")
    path.write_bytes(bytes(16) + index + footer)
    with pytest.raises(StaleError):
        CacheFile(path)


def test_stamps_survive_json() -> None:
    stamp = Stamp(66305, 2**63, 10, 1_795_246_490_123_456_789, -5)
    assert Stamp(*json.loads(json.dumps(stamp))) == stamp


def test_an_array_that_comes_twice_is_written_once(tmp_path: Path) -> None:
    steps, sizes = np.random.default_rng(1).integers(-(2**63), 2**63, 1000), []
    for number, columns in enumerate(([steps], [steps, steps], [steps, steps.copy()])):
        pack = CacheFileWriter(tmp_path / f"{number}.pack")
        pack.run("./a", [pack.array(array) for array in columns])
        pack.finish()
        file = CacheFile(tmp_path / f"{number}.pack")
        assert all((file.body("./a").array(at) == steps).all() for at in file.note("./a"))
        file.close()
        sizes.append((tmp_path / f"{number}.pack").stat().st_size)
    assert sizes[1] - sizes[0] < 100 < steps.nbytes <= sizes[2] - sizes[1]


RUNS = Path(__file__).parents[2] / "data" / "tfevents" / "runs"


@pytest.mark.parametrize("run", ["tensors/train", "torch/trial", "purged", "graph"])
def test_a_file_is_known_as_it_was_read(tmp_path: Path, run: str) -> None:
    for path in sorted((RUNS / run).glob("*tfevents*")):
        file = FileStage(path.name, str(path))
        size = path.stat().st_size
        answer = read_file_section(SectionRequest(str(path), 0, size, tensorboard=True))
        file.fold(require(answer.section), None, answer.fingerprint)
        pack = CacheFileWriter(tmp_path / "a.pack")
        pack.run("./run", encode_file(file, pack))
        pack.finish()
        cache_file = CacheFile(tmp_path / "a.pack")
        again = decode_file(cache_file.note("./run"), cache_file.body("./run"), str(path))
        cache_file.close()
        assert (again.sessions, again.hparams) == (file.sessions, file.hparams)
        assert again.list_keys() == file.list_keys()
        for key in file.list_keys():
            mine, theirs = file.part(key), again.part(key)
            assert mine.steps.tolist() == theirs.steps.tolist()
            assert mine.sessions.tolist() == theirs.sessions.tolist()


def test_the_samples_have_sessions_and_hyperparameters_to_keep() -> None:
    facts = []
    for path in RUNS.rglob("*tfevents*"):
        file = FileStage(path.name, str(path))
        answer = read_file_section(SectionRequest(str(path), 0, path.stat().st_size, tensorboard=True))
        file.fold(require(answer.section))
        facts.append((file.sessions > 0, bool(file.hparams)))
    assert tuple(map(any, zip(*facts, strict=True))) == (True, True)


@pytest.fixture
def stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of all groups go to disk, as those of large tables do."""
    for name in ("MAX_IN_MEMORY", "_MIN_SECTION", "_MIN_STORED", "_MIN_NUMBERS"):
        monkeypatch.setattr(file_stage, name, 1)
    monkeypatch.setattr("mindinsight.server.ingest.catalogue.PIECE", 400)
    monkeypatch.setattr("mindinsight.server.ingest.loader.PIECE", 400)


@pytest.fixture
def value_files(settings: Any) -> Callable[..., Any]:
    return lambda: sorted((settings.workspace / "cache").glob("*/*.values"))


@pytest.mark.usefixtures("stores")
def test_stored_values_are_read_on_demand_after_a_restart(
    written: list[Any], restart: Callable[..., Any], read: Any, value_files: Callable[..., Any], events: Any
) -> None:
    plain = repr(seen(restart(cache=False)))
    assert value_files() == []
    assert repr(seen(restart())) == plain
    assert len(value_files()) == 3
    again = restart()
    assert (read, repr(seen(again))) == ([], plain)
    assert all(part.stored for part in again.runs["./a"].scalars["loss"].parts)
    events.append(written[1], events.records(7, 8, 9))
    grown = repr(seen(restart()))
    assert ("a", written[1].stat().st_size) not in read
    assert repr(seen(restart(cache=False))) == repr(seen(restart())) == grown != plain


@pytest.mark.usefixtures("stores")
@pytest.mark.parametrize("harm", [Path.unlink, lambda path: os.truncate(path, 5)])
def test_a_file_without_its_values_is_read_again(
    written: list[Any],
    restart: Callable[..., Any],
    read: Any,
    value_files: Callable[..., Any],
    harm: Callable[[Path], None],
) -> None:
    first = repr(seen(restart()))
    for path in value_files():
        harm(path)
    assert repr(seen(restart())) == first
    assert {run for run, _ in read} == {"a", "b"}


@pytest.mark.usefixtures("stores")
def test_values_that_turn_out_to_be_damaged_are_read_again_by_the_same_server(
    written: list[Any], settings: Any, value_files: Callable[..., Any]
) -> None:
    loader = Loader(settings, Store())
    loader.load()
    expected = repr(seen(loader._store.snapshot()))
    for path in value_files():
        path.write_bytes(bytes(path.stat().st_size))
    for run in loader._store.snapshot().runs.values():
        run.scalars["loss"].forget()
    harmed = loader._store.snapshot().runs["./a"].scalars["loss"]
    with pytest.raises(Gone):
        harmed.columns()
    for _ in written:  # of each run, the first damaged file is noticed
        for run in loader._store.snapshot().runs.values():
            with suppress(Gone):
                run.scalars["loss"].columns()
        loader.load()
    assert repr(seen(loader._store.snapshot())) == expected


@pytest.mark.usefixtures("stores")
def test_a_server_that_was_killed_while_reading_goes_on_where_it_saved(
    base: Any,
    events: Any,
    settings: Any,
    restart: Callable[..., Any],
    read: Any,
    value_files: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = events.file(base / "a", events.records(*range(100)))
    killed = Loader(settings, Store())
    killed._scan_first()
    for _ in range(4):
        killed._publish_at = 0
        killed._work()
    done = require(killed._cache)
    monkeypatch.setattr(cache, "_MAX_UNSAVED", 1000)
    done.save(killed._catalogue.stages, growth=None)
    (file,) = killed._catalogue.stages["./a"].files.values()
    assert 1000 < file.read < path.stat().st_size
    assert restart().runs["./a"].scalars["loss"].columns().values.tolist() == [*range(100)]
    assert min(offset for _, offset in read) == file.read
    assert len(value_files()) == 2
    assert not require(killed._cold).lost


@pytest.mark.usefixtures("stores")
def test_values_are_removed_with_their_event_file_and_those_of_killed_servers_later(
    written: list[Any], settings: Any, value_files: Callable[..., Any], restart: Callable[..., Any]
) -> None:
    loader = Loader(settings, Store())
    loader.load()
    require(loader._cache).save(loader._catalogue.stages)
    used = value_files()
    written[2].unlink()
    loader.load()
    require(loader._cache).save(loader._catalogue.stages)
    assert len(value_files()) == len(used) - 1
    stray = [used[0].with_name(f"{number}.values") for number in range(2)]
    for path in stray:
        path.write_bytes(b"")
    os.utime(stray[0], (0, 0))
    for path in used:
        if path.exists():
            os.utime(path, (0, 0))
    restart()
    assert set(value_files()) == {*used, stray[1]} & {*value_files(), stray[1]}
    assert len(value_files()) == len(used)
