from dataclasses import replace
from typing import Any

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.store.run import (
    Run,
    Snapshot,
    first_event,
    is_finished,
    last_event,
    state_of,
    torn_files,
    torn_since,
)
from mindinsight.server.types import FileState


@pytest.fixture
def snapshot() -> Snapshot:
    run = Run("./a", "a", "/base/a", "./a", None, 0.0, 0.0, 0)
    return Snapshot(1, {"./a": run}, 0, "/base", "polling", 0.0)


def test_a_run_is_had_by_its_id(snapshot: Snapshot) -> None:
    assert snapshot.run("./a").path == "/base/a"


def test_a_run_or_tag_that_is_not_there_is_not_found(snapshot: Snapshot) -> None:
    with pytest.raises(ApiError) as no_run:
        snapshot.run("./b")
    with pytest.raises(ApiError) as no_tag:
        snapshot.payloads("./a", "image", "cat")
    assert (no_run.value.status, no_tag.value.status) == (404, 404)
    assert no_run.value.code != no_tag.value.code


NOW = 1_700_010_000.0


def file(
    seconds: Any,
    rank: int = 0,
    *,
    pending: int = 0,
    closed: bool = False,
    last: Any = 0.0,
    first: Any = 0.0,
    suffix: str = "_MS",
    error: str = "",
) -> FileState:
    name = f"events.out.events.summary.{seconds}.{rank}.host{suffix}"
    return FileState(
        name, 100, NOW, 100 - pending, pending, error=error, first_event=first, last_event=last, closed=closed
    )


def run(*files: Any, last: Any = NOW, finished: bool = False) -> Run:
    files = files or (file(1),)
    return Run("./a", "a", "/a", "./a", None, 0.0, NOW, 1, files, last_event=last, finished=finished)


@pytest.mark.parametrize(
    ("age", "state"), [(0, "running"), (119, "running"), (121, "quiet"), (3601, "stopped")]
)
def test_an_unclosed_run_is_told_by_the_age_of_its_last_event(age: int, state: str) -> None:
    assert state_of(run(last=NOW - age), NOW) == state


def test_nothing_is_said_of_a_training_in_a_directory_without_event_files() -> None:
    assert {state_of(replace(run(last=NOW - age), files=()), NOW) for age in (0, 600, 10_000)} == {
        "unrecorded"
    }


def test_a_closed_run_is_finished_whatever_its_age() -> None:
    assert {state_of(run(last=NOW - age, finished=True), NOW) for age in (0, 600, 10_000)} == {"finished"}


@pytest.mark.parametrize(
    ("files", "finished"),
    [
        ((), False),
        ((file(1, closed=True),), True),
        ((file(1),), False),
        ((file(1), file(2, closed=True)), True),  # the first training was killed, the one after it was not
        ((file(1, closed=True), file(2)), False),
        ((file(1, 0, closed=True), file(1, 1)), False),  # two ranks in one directory
        ((file(1, 0, closed=True), file(1, 1, closed=True)), True),
        ((file(1, closed=True, pending=8),), False),
        ((file(1, closed=True, error="file.permission"),), False),
        ((file(1), file(2, closed=True, suffix="_lineage")), False),
        ((file(1, closed=True, suffix="_lineage"),), True),
    ],
)
def test_the_newest_event_file_of_every_rank_decides_whether_a_run_is_finished(
    files: Any, finished: bool
) -> None:
    assert is_finished(files) is finished


def test_times_are_those_of_the_events() -> None:
    files = (file(1, first=10.0, last=20.0), file(2, first=15.0, last=90.0), file(3))
    assert (first_event(files, 5.0), last_event(files, 100.0)) == (10.0, 90.0)
    assert last_event(files, 50.0) == 50.0  # no event is newer than the write that brought it
    created = 1.6e9
    assert (first_event(files[2:], created), last_event(files[2:], 1.7e9)) == (created, 1.7e9)


def test_the_whole_second_in_a_name_gives_way_to_an_event_within_it() -> None:
    assert first_event((file(1, first=10.0), file(2, first=10.7), file(3, first=10.9)), 5.0) == 10.7
    assert first_event((file(1, first=10.0), file(2, first=11.2)), 5.0) == 10.0


def test_times_that_cannot_be_are_not_shown() -> None:
    untimed, timed = file(3), file(1, first=1.7e9, last=1.7e9 + 60)
    assert first_event((untimed,), 2.0) == untimed.modified  # a name such as events.out.tfevents.2.x
    assert last_event((timed,), 1.6e9) == 1.7e9 + 60  # the files' times were set back


def test_an_unfinished_record_is_waited_for_as_long_as_the_run_goes_on() -> None:
    running = run(file(1, pending=8), last=NOW)
    assert torn_files(running, NOW + 119) == []
    assert [state.name for state in torn_files(running, NOW + 120)] == [running.files[0].name]


@pytest.mark.parametrize("files", [(file(1, pending=8, closed=True),), (file(1, pending=8), file(2))])
def test_an_unfinished_record_of_a_closed_or_older_file_is_one_at_once(files: Any) -> None:
    assert torn_since(run(*files)) == {files[0].name: 0.0}


def test_a_file_that_ends_with_a_whole_record_is_never_torn() -> None:
    assert torn_since(run(file(1))) == {}
