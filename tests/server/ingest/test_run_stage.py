"""Runs while they are read: what publishing renews, and what stays."""

from typing import Any

import pytest

from mindinsight.server.formats.lineage import Lineage
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.run_discovery import DiscoveredRun
from mindinsight.server.ingest.run_stage import RunStage, TagParts
from mindinsight.server.store.run import last_step
from tests.server.ingest.stretches import file_named, payloads, scalars, stretch


def discovered_run(**changes: Any) -> Any:
    facts: dict[Any, Any] = {
        "id": "./a",
        "folder": "./a",
        "path": "/base/a",
        "name": "a",
        "job": "./a",
        "rank": None,
        "created": 5.0,
        "updated": 6.0,
        "files": {},
        "dumps": (),
    }
    return DiscoveredRun(**{**facts, **changes})


@pytest.fixture
def file() -> Any:
    return file_named(1)


@pytest.fixture
def stage() -> Any:
    return RunStage(discovered_run())


def test_publishing_says_which_kinds_changed_and_renews_only_these(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(10, scalars(1, tags=("loss", "acc")), references=[payloads(1)]))
    first, kinds = stage.publish(1)
    assert kinds == {"scalar", "image"}
    stage.fold(file, stretch(20, scalars(2, tags=("loss",))))
    assert stage.changed
    second, kinds = stage.publish(2)
    assert kinds == {"scalar"}
    assert not stage.changed
    assert second.scalars["acc"] is first.scalars["acc"]
    assert second.references["image"]["cat"] is first.references["image"]["cat"]
    assert (second.scalars["loss"].version, second.scalars["acc"].version, second.version) == (2, 1, 2)
    assert list(second.scalars) == ["loss", "acc"]
    assert first.scalars["loss"].columns().steps.tolist() == [1]


def test_files_come_in_the_order_of_their_numbers_however_they_are_read(stage: Any) -> None:
    for seconds in (1000, 999, 2000):
        file = file_named(seconds)
        stage.add(file)
        stage.fold(file, stretch(10, scalars(seconds), references=[payloads(seconds)]))
    run, _ = stage.publish(1)
    assert run.scalars["loss"].columns().steps.tolist() == [999, 1000, 2000]
    assert run.references["image"]["cat"].steps.tolist() == [999, 1000, 2000]
    assert [state.name.split(".")[4] for state in run.files] == ["999", "1000", "2000"]


def test_a_cursor_stays_good_while_rows_come_at_the_end(stage: Any) -> None:
    versions = iter(range(1, 100))

    def generation_after(file: Any, step: Any) -> Any:
        stage.add(file)
        stage.fold(file, stretch(step, scalars(step)))
        return stage.publish(next(versions))[0].scalars["loss"].generation

    older, newer, newest = file_named(1), file_named(2), file_named(3)
    assert [generation_after(newer, 1), generation_after(newer, 2), generation_after(newest, 3)] == [1, 1, 1]
    assert generation_after(newer, 4) == 4
    assert generation_after(newest, 5) == 4
    assert generation_after(older, 0) == 6
    stage.remove(newest.name)
    assert stage.publish(next(versions))[0].scalars["loss"].generation == 7


def test_a_file_that_is_begun_again_makes_cursors_bad(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(10, scalars(1, 2)))
    stage.publish(1)
    stage.remove(file.name)
    again = file_named(1)
    stage.add(again)
    stage.fold(again, stretch(10, scalars(1, 2, 3)))
    series = stage.publish(2)[0].scalars["loss"]
    assert (series.generation, series.columns().steps.tolist()) == (2, [1, 2, 3])


def test_a_tag_goes_with_the_last_file_that_holds_it(stage: Any) -> None:
    first, second = file_named(1), file_named(2)
    for file, tags in ((first, ("loss", "old")), (second, ("loss",))):
        stage.add(file)
        stage.fold(file, stretch(10, scalars(1, tags=tags)))
    stage.fold(first, stretch(20, references=[payloads(1)]))
    stage.publish(1)
    stage.remove(first.name)
    run, kinds = stage.publish(2)
    assert (list(run.scalars), dict(run.references)) == (["loss"], {})
    assert kinds == {"scalar", "image"}
    stage.remove(second.name)
    run, _ = stage.publish(3)
    assert (dict(run.scalars), run.files, run.total) == ({}, (), 0)


def test_a_copied_file_is_read_where_it_is_now(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(10, scalars(1), references=[payloads(1)]))
    before, _ = stage.publish(1)
    file.stamp = file.stamp._replace(inode=77)
    stage.relocate(file)
    after, kinds = stage.publish(2)
    assert after.references["image"]["cat"].parts[0].inode == 77
    assert before.references["image"]["cat"].parts[0].inode == 1
    assert (after.scalars["loss"] is before.scalars["loss"], kinds) == (True, {"image"})


def test_lineage_of_all_files_is_merged_oldest_first(stage: Any) -> None:
    for seconds, facts in ((3, {"a": 3}), (1, {"a": 1, "b": 1})):
        file = file_named(seconds, suffix="_lineage")
        stage.add(file)
        stage.fold(file, stretch(10), Lineage(user_defined=facts))
    run, kinds = stage.publish(1)
    assert (run.lineage.user_defined, kinds) == ({"a": 3, "b": 1}, {"lineage"})
    stage.remove(file_named(3, suffix="_lineage").name)
    assert stage.publish(2)[0].lineage.user_defined == {"a": 1, "b": 1}
    stage.remove(file_named(1, suffix="_lineage").name)
    run, kinds = stage.publish(3)
    assert (run.lineage, kinds) == (None, {"lineage"})


def test_each_graph_of_a_file_has_a_tag(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(10, references=[payloads(1, 2, kind="graph", tag="")]))
    stage.fold(file, stretch(20, references=[payloads(5, kind="graph", tag="")]))
    graphs = stage.publish(1)[0].references["graph"]
    assert list(graphs) == [file.name, f"{file.name}#2", f"{file.name}#3"]
    assert [graphs[tag].reference(0).offset for tag in graphs] == [100, 200, 500]
    assert {series.count for series in graphs.values()} == {1}


def test_progress_counts_all_files(stage: Any) -> None:
    first, second = file_named(1, size=100), file_named(2, size=50)
    for file in (first, second):
        stage.add(file)
    stage.fold(first, stretch(80))
    run, _ = stage.publish(1)
    assert (run.read, run.total, run.size) == (80, 150, 150)
    assert run.updated == 2.0


def test_bytes_of_an_unfinished_record_or_an_unreadable_file_are_not_waited_for(stage: Any) -> None:
    cut, unreadable = file_named(1, size=100), file_named(2, size=50)
    unreadable.error = "file.permission"
    for file in (cut, unreadable):
        stage.add(file)
    stage.fold(cut, stretch(80, pending=20))
    run, _ = stage.publish(1)
    assert (run.read, run.total) == (150, 150)
    assert run.files[0].pending == 20


def test_a_run_without_files_has_the_time_of_its_folder(stage: Any) -> None:
    assert stage.publish(1)[0].updated == 6.0


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [({"dumps": ("./a/dump",)}, {"dump"}), ({"rank": 1, "job": "./"}, set()), ({"created": 9.0}, set())],
)
def test_what_discovery_says_anew_is_published(stage: Any, changes: Any, kinds: Any) -> None:
    stage.publish(1)
    stage.update(discovered_run())
    assert not stage.changed
    stage.update(discovered_run(**changes))
    assert stage.changed
    run, kinds_published = stage.publish(2)
    assert {name: getattr(run, name) for name in changes} == changes
    assert kinds_published == kinds


@pytest.fixture
def parts() -> TagParts:
    return TagParts(("scalar", "loss"))


def grown(seconds: int, *steps: int) -> FileStage:
    file = file_named(seconds)
    file.fold(stretch(10, scalars(*steps)))
    return file


def steps_of(parts: TagParts) -> tuple[bool, list[list[int]]]:
    moved, taken = parts.take()
    return moved, [part.steps.tolist() for part in taken]


def test_files_come_oldest_first_whenever_they_are_read(parts: TagParts) -> None:
    for file in (grown(3, 30), grown(1, 10), grown(2, 20)):
        parts.touch(file)
    assert steps_of(parts)[1] == [[10], [20], [30]]


def test_rows_at_the_end_move_nothing(parts: TagParts) -> None:
    file = grown(1, 10)
    parts.touch(file)
    parts.take()
    file.fold(stretch(20, scalars(11)))
    parts.touch(file)
    assert steps_of(parts) == (False, [[10, 11]])
    parts.touch(grown(2, 20))
    assert steps_of(parts) == (False, [[10, 11], [20]])


def test_rows_before_the_end_are_said_once(parts: TagParts) -> None:
    parts.touch(grown(2, 20))
    parts.take()
    parts.touch(grown(1, 10))
    assert steps_of(parts) == (True, [[10], [20]])
    assert steps_of(parts) == (False, [[10], [20]])


def test_a_file_that_goes_takes_its_part_with_it(parts: TagParts) -> None:
    first, last = grown(1, 10), grown(2, 20)
    parts.touch(first)
    parts.touch(last)
    parts.take()
    parts.remove(first)
    assert steps_of(parts) == (True, [[20]])
    parts.remove(first)
    assert steps_of(parts) == (False, [[20]])


def test_a_dump_with_another_step_is_a_change(stage: Any) -> None:
    stage.update(discovered_run(dumps=("./a/dump",), dump_stamps=(Stamp(1, 2, 3, 4, 4),)))
    assert stage.publish(1)[1] == {"dump"}
    stage.update(discovered_run(dumps=("./a/dump",), dump_stamps=(Stamp(1, 2, 3, 4, 4),)))
    assert not stage.changed
    stage.update(discovered_run(dumps=("./a/dump",), dump_stamps=(Stamp(1, 2, 3, 5, 5),)))
    assert stage.changed
    assert stage.publish(2)[1] == {"dump"}


def test_what_a_machine_did_is_apart_from_the_training_and_no_sign_of_it(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(10, scalars(1, 2, 3, tags=("loss",))))
    stage.fold(file, stretch(20, scalars(1000, 2000, tags=("system/cpu/percent",))))
    run, kinds = stage.publish(1)
    assert kinds == {"scalar"}
    assert (list(run.scalars), list(run.system)) == (["loss"], ["system/cpu/percent"])
    assert last_step(run) == 3
    assert run.last_event <= 3.5  # not 2000.5, the time of the machine's last sample
    stage.fold(file, stretch(30, scalars(3000, tags=("system/cpu/percent",))))
    later, _ = stage.publish(2)
    assert later.last_event == run.last_event
    assert len(later.system["system/cpu/percent"].line().steps) == 3
    stage.remove(file.name)
    assert not stage.publish(3)[0].system


def test_a_machine_alone_has_the_time_of_its_samples(stage: Any, file: Any) -> None:
    stage.add(file)
    stage.fold(file, stretch(20, scalars(1000, 2000, tags=("system/cpu/percent",))))
    alone = stage.publish(1)[0]
    assert alone.last_event == max(state.last_event or alone.updated for state in alone.files)
