"""From files to what readers see: one look after another, each driven by the test."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.ingest import loader as loader_module
from mindinsight.server.ingest import piece_reader
from mindinsight.server.ingest.loader import Loader


def run_of(store: Any, run: str = "./a") -> Any:
    return store.snapshot().runs[run]


def damage_of(store: Any, run: str = "./a") -> list[Any]:
    return [damage.reason for file in run_of(store, run).files for damage in file.damage]


def test_scalars_of_one_file(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    content = events.version() + events.records(1, 2, 3)
    path = events.file(base / "a", content)
    loader.load()
    run = run_of(store)
    assert steps() == [1, 2, 3]
    assert run.scalars["loss"].columns().values.tolist() == [1.0, 2.0, 3.0]
    assert (run.read, run.total, run.size) == (len(content),) * 3
    assert [(file.name, file.read, file.pending) for file in run.files] == [(path.name, len(content), 0)]
    assert store.snapshot().base == str(base)


def test_payloads_are_found_where_they_lie(base: Any, events: Any, loader: Any, store: Any) -> None:
    events.file(base / "a", events.record(4, image=("cat", b"PNG1"), tensor=("w", [1.0, 2.0]), loss=0.5))
    loader.load()
    references = run_of(store).references
    assert references["image"]["cat"].read(0).endswith(b"PNG1")
    assert references["tensor"]["w"].steps.tolist() == [4]
    assert run_of(store).scalars["loss"].last_value == 0.5


def test_graph_files_are_payloads_under_their_own_name(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", b"graph bytes", name="ms_output_optimize.pb")
    loader.load()
    assert run_of(store).references["graph"]["ms_output_optimize.pb"].read(0) == b"graph bytes"


@pytest.mark.parametrize("piece", [1, 7, 40, 64, 1000])
def test_a_growing_file_shows_the_same_in_whatever_pieces_it_grows(
    piece: int, base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    content = events.version() + b"".join(
        events.record(step, loss=step * 0.5, **({"acc": 1.0} if step % 3 else {})) for step in range(12)
    )
    content += events.record(12, image=("cat", b"x" * 90), loss=6.0)
    path = events.file(base / "a")
    for end in range(0, len(content) + piece, piece):
        path.write_bytes(content[:end])
        loader.load()
        assert steps() in (None, list(range(len(steps() or []))))
        assert damage_of(store) == []
    assert steps() == list(range(13))
    assert steps(tag="acc") == [step for step in range(12) if step % 3]
    assert run_of(store).references["image"]["cat"].count == 1


def test_a_half_written_record_is_waited_for_and_not_read_again_until_it_grows(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    whole = events.records(1, 2)
    events.file(base / "a", whole[:-5])
    loader.load()
    (file,) = run_of(store).files
    assert (file.read + file.pending, file.damage) == (file.size, ())
    version = store.snapshot().version
    loader.load()
    assert store.snapshot().version == version


def test_damage_takes_nothing_from_what_lies_around_it(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    content = bytearray(events.records(1, 2, 3))
    content[len(content) // 2] ^= 0x40
    events.file(base / "a", bytes(content))
    events.file(base / "b", events.records(1))
    loader.load()
    assert steps() == [1, 3]
    assert steps("./b") == [1]
    assert damage_of(store) == ["damage.body_crc"]


def test_a_restart_in_a_newer_file_is_a_segment_of_its_own(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1, 2, 3, 4), seconds=999_999_999)
    events.file(base / "a", events.records(3, 4, 5, scale=-1.0), seconds=1_000_000_000)
    loader.load()
    columns = run_of(store).scalars["loss"].columns()
    assert columns.steps.tolist() == [1, 2, 3, 4, 3, 4, 5]
    assert columns.starts.tolist() == [0, 4]
    assert run_of(store).scalars["loss"].line().values.tolist() == [1, 2, -3, -4, -5]


def test_a_file_that_was_rolled_over_continues_its_line(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1, 2), seconds=1)
    events.file(base / "a", events.records(3, 4), seconds=2)
    loader.load()
    assert run_of(store).scalars["loss"].columns().starts.tolist() == [0]


def test_overlapping_files_grow_apart_and_cursors_learn_of_it(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    older = events.file(base / "a", events.records(1), seconds=1)
    newer = events.file(base / "a", events.records(5), seconds=2)
    loader.load()
    before = run_of(store).scalars["loss"]
    events.append(newer, events.records(6))
    loader.load()
    grown = run_of(store).scalars["loss"]
    assert (steps(), grown.generation) == ([1, 5, 6], before.generation)
    events.append(older, events.records(2))
    loader.load()
    moved = run_of(store).scalars["loss"]
    assert steps() == [1, 2, 5, 6]
    assert moved.generation > grown.generation
    assert before.columns().steps.tolist() == [1, 5]


def test_only_what_changed_gets_a_new_version(base: Any, events: Any, loader: Any, store: Any) -> None:
    events.file(base / "a", events.records(1))
    path = events.file(base / "b", events.records(1) + events.records(1, tag="acc"))
    loader.load()
    before = store.snapshot()
    messages: list[Any] = []
    store.subscribe(messages.append)
    events.append(path, events.records(2))
    loader.load()
    after = store.snapshot()
    assert after.runs["./a"] is before.runs["./a"]
    assert after.runs["./b"].scalars["acc"] is before.runs["./b"].scalars["acc"]
    assert after.runs["./b"].scalars["loss"].version == after.runs["./b"].version == after.version
    assert [(changes.runs, dict(changes.kinds), changes.list) for changes in messages[-1:]] == [
        (frozenset({"./b"}), {"./b": frozenset({"scalar"})}, False)
    ]


def test_a_truncated_file_is_read_afresh(base: Any, events: Any, loader: Any, steps: Any) -> None:
    path = events.file(base / "a", events.records(1, 2, 3))
    loader.load()
    path.write_bytes(events.records(7))
    loader.load()
    assert steps() == [7]


def test_a_file_rewritten_in_place_and_grown_is_read_afresh(
    base: Any, events: Any, loader: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1, 2, 3))
    loader.load()
    path.write_bytes(events.records(11, 12, 13, 14))
    loader.load()
    assert steps() == [11, 12, 13, 14]


def test_a_file_replaced_by_a_longer_copy_of_itself_goes_on(
    base: Any, events: Any, loader: Any, store: Any, steps: Any, tmp_path: Path
) -> None:
    """What rsync does: a new inode under the old name."""
    content = events.records(1) + events.record(1, image=("cat", b"one"))
    path = events.file(base / "a", content)
    loader.load()
    generation = run_of(store).scalars["loss"].generation
    copy = events.file(tmp_path, content + events.records(2))
    copy.replace(path)
    loader.load()
    assert steps() == [1, 2]
    assert run_of(store).scalars["loss"].generation == generation
    assert run_of(store).references["image"]["cat"].read(0).endswith(b"one")


def test_a_file_replaced_by_another_is_read_afresh(
    base: Any, events: Any, loader: Any, steps: Any, tmp_path: Path
) -> None:
    path = events.file(base / "a", events.records(1, 2))
    loader.load()
    events.file(tmp_path, events.records(5, 6, 7)).replace(path)
    loader.load()
    assert steps() == [5, 6, 7]


@pytest.mark.parametrize("how", ["written over", "put in its place"])
def test_a_damaged_file_that_is_healed_is_read_afresh(
    how: str, base: Any, events: Any, loader: Any, store: Any, steps: Any, tmp_path: Path
) -> None:
    """What cp and scp do, and what rsync does: the same size, and no difference where it begins and ends."""
    good = events.records(*range(20))
    bad = bytearray(good)
    bad[len(good) // 2] ^= 0x10
    path = events.file(base / "a", bytes(bad))
    loader.load()
    assert len(steps()) == 19
    if how == "written over":
        path.write_bytes(good)
    else:
        events.file(tmp_path, good).replace(path)
    loader.load()
    assert (steps(), damage_of(store)) == (list(range(20)), [])


def test_a_touched_file_is_not_read_again(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1, 2))
    loader.load()
    series = run_of(store).scalars["loss"]
    os.utime(path, (1, 1))
    loader.load()
    assert run_of(store).scalars["loss"] is series
    assert run_of(store).updated == 1.0


def test_removed_files_take_their_values_with_them(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1) + events.records(1, tag="old"), seconds=1)
    newer = events.file(base / "a", events.records(2, 3), seconds=2)
    loader.load()
    newer.unlink()
    loader.load()
    assert steps() == [1]
    newer.with_name(events.name.format(1)).rename(newer)
    loader.load()
    assert (steps(), steps(tag="old")) == ([1], [1])
    assert [file.name for file in run_of(store).files] == [newer.name]


def test_runs_that_vanish_appear_and_are_renamed_are_followed(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    loader.load()
    messages: list[Any] = []
    store.subscribe(messages.append)
    (base / "a").rename(base / "b")
    loader.load()
    assert (steps("./a"), steps("./b")) == (None, [1])
    assert (messages[0].list, messages[0].runs) == (True, frozenset({"./a", "./b"}))
    shutil.rmtree(base / "b")
    loader.load()
    assert store.snapshot().runs == {}


def test_a_base_that_vanishes_and_comes_back(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    loader.load()
    moved = base.rename(base.with_name("elsewhere"))
    loader.load()
    assert (store.snapshot().base_missing, store.snapshot().runs) == (True, {})
    moved.rename(base)
    loader.load()
    assert (store.snapshot().base_missing, steps()) == (False, [1])


def test_the_newest_runs_are_taken_and_others_make_room(
    base: Any, events: Any, store: Any, settings: Any
) -> None:
    paths = [events.file(base / f"run{number}", events.records(number)) for number in range(4)]
    for number, path in enumerate(paths):
        os.utime(path, (1000 + number, 1000 + number))
    loader = Loader(settings.__class__(base, settings.workspace, max_runs=2), store)
    loader.load()
    assert (set(store.snapshot().runs), store.snapshot().left_out) == ({"./run2", "./run3"}, 2)
    events.append(paths[0], events.records(9))
    loader.load()
    assert (set(store.snapshot().runs), store.snapshot().left_out) == ({"./run0", "./run3"}, 2)


def test_an_unreadable_file_is_named_and_read_when_it_can_be(
    base: Any, events: Any, loader: Any, store: Any, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", events.records(1))
    events.file(base / "b", events.records(1))
    opened = piece_reader.opened  # type: ignore[attr-defined]

    def refuse(name: Any) -> Any:
        if name == str(path):
            raise PermissionError(13, "Permission denied")
        return opened(name)

    monkeypatch.setattr(piece_reader, "opened", refuse)
    loader.load()
    assert [file.error for file in run_of(store).files] == ["file.permission"]
    assert (steps(), steps("./b")) == (None, [1])
    monkeypatch.undo()
    path.chmod(0o644 if path.stat().st_mode & 0o777 != 0o644 else 0o600)
    loader.load()
    assert (steps(), run_of(store).files[0].error) == ([1], "")


def test_lineage_is_read_whole_each_time_it_grows(
    base: Any, events: Any, loader: Any, store: Any, sample_lineage: list[Any]
) -> None:
    first, second = sample_lineage
    path = events.file(base / "a", first, name="events.out.events.summary.{}.0.host_lineage")
    loader.load()
    before = run_of(store).lineage
    assert before.user_defined == {"batch": 32}
    events.append(path, second[:-3])
    loader.load()
    assert run_of(store).files[0].pending == len(second) - 3
    events.append(path, second[-3:])
    loader.load()
    assert run_of(store).lineage.user_defined == {"batch": 32, "note": "warm"}
    path.unlink()
    events.file(base / "a", events.records(1))
    loader.load()
    assert run_of(store).lineage is None


@pytest.fixture
def sample_lineage() -> list[Any]:
    from mindinsight.proto.framing import encode_record
    from mindinsight.proto.lineage_pb2 import LineageEvent

    first, second = LineageEvent(wall_time=1.0), LineageEvent(wall_time=2.0)
    first.user_defined_info.user_info.add().map_int32["batch"] = 32
    second.user_defined_info.user_info.add().map_str["note"] = "warm"
    return [encode_record(event.SerializeToString()) for event in (first, second)]


def test_very_many_files_at_once(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    for number in range(300):
        events.file(base / "a", events.records(number), seconds=1000 + number)
    loader.load()
    assert steps() == list(range(300))
    assert run_of(store).scalars["loss"].columns().starts.tolist() == [0]
    assert len(run_of(store).files) == 300


def test_a_tail_costs_no_copy_of_what_was_there(base: Any, events: Any, loader: Any, store: Any) -> None:
    path = events.file(base / "a", events.records(*range(1000)))
    loader.load()
    events.append(path, events.records(1000))
    loader.load()
    roomy = run_of(store).scalars["loss"].columns().steps
    events.append(path, events.records(1001))
    loader.load()
    assert np.shares_memory(roomy, run_of(store).scalars["loss"].columns().steps)


def test_freed_memory_is_released_once_after_much_was_moved(
    base: Any, events: Any, settings: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[int] = []
    monkeypatch.setattr(loader_module, "release_freed_memory", lambda: released.append(1))
    monkeypatch.setattr(loader_module, "_MUCH", 64 << 10)
    path = events.file(base / "a", events.records(*range(6000)))
    loader = Loader(settings, store)
    loader.start()
    assert wait(lambda: released)
    events.append(path, events.records(6000))
    assert wait(lambda: run_of(store).scalars["loss"].count == 6001)
    loader.stop()
    assert released == [1]
