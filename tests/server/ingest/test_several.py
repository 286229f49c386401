"""Several base directories in one tree of runs, followed as each of them allows."""

import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import folder_tree, piece_reader, watcher
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings.base_dirs import bases_of
from tests.server.ingest.stretches import discover


@pytest.fixture
def top(tmp_path: Path) -> Any:
    for name in ("mine", "data/ann"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def of(top: Any, *texts: Any) -> Any:
    return bases_of([text.replace("~~", str(top)) for text in texts])


@pytest.fixture
def loading(settings: Any, store: Any) -> Iterator[Any]:
    """loading(bases, watch="polling") -> a loader at work on them."""
    made = []

    def begin(bases: Any, **more: Any) -> Any:
        made.append(Loader(dataclasses.replace(settings, summary_base_dir=bases, **more), store))
        made[-1].start()
        return made[-1]

    yield begin
    for loader in made:
        loader.stop()


def troubles(entries: Any) -> set[Any]:
    return {(trouble.path, trouble.reason) for trouble in entries}


def test_ids_begin_with_the_names_and_depth_counts_from_each(top: Any, events: Any) -> None:
    for folder in ("", "a", "1/2/3/4", "1/2/3/4/5"):
        events.file(top / "mine" / folder)
        events.file(top / "data/ann" / folder)
    result = discover(of(top, "~~/mine", "lab=~~/data/ann"))
    by_id = {run.id: run for run in result.runs}
    below = ("", "/a", "/1/2/3/4")
    assert by_id.keys() == {f"./{name}{folder}" for name in ("mine", "lab") for folder in below}
    assert (by_id["./lab"].name, by_id["./lab"].path) == ("lab", str(top / "data/ann"))
    assert (by_id["./lab/a"].name, by_id["./lab/a"].path) == ("lab/a", str(top / "data/ann/a"))


def test_one_directory_with_a_name_begins_with_it(top: Any, events: Any) -> None:
    events.file(top / "mine/a")
    assert [run.id for run in discover(of(top, "lab=~~/mine")).runs] == ["./lab/a"]


def test_ranks_are_jobs_below_each_directory(top: Any, events: Any) -> None:
    for below in ("mine/rank_0", "mine/rank_1", "data/ann/job/rank_0"):
        events.file(top / below)
    table = {run.id: (run.job, run.rank) for run in discover(of(top, "~~/mine", "lab=~~/data/ann")).runs}
    assert table == {
        "./mine/rank_0": ("./mine", 0),
        "./mine/rank_1": ("./mine", 1),
        "./lab/job/rank_0": ("./lab/job", 0),
    }


def test_the_limit_counts_over_all(top: Any, events: Any) -> None:
    for number in range(6):
        path = events.file(top / ("mine" if number % 2 else "data/ann") / f"run{number}")
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    result = discover(of(top, "~~/mine", "~~/data/*"), limit=3)
    assert [run.id for run in result.runs] == ["./mine/run5", "./ann/run4", "./mine/run3"]
    assert result.left_out == 3


def test_a_dump_belongs_to_its_own_directory(top: Any, events: Any) -> None:
    dump = "rank_0/Net/0/0"
    (top / "mine" / dump).mkdir(parents=True)
    (top / "mine" / dump / "Add.Add-op1.0.0.1.output.0.DefaultFormat.npy").touch()
    (top / "data/ann/dumped" / dump).mkdir(parents=True)
    (top / "data/ann/dumped" / dump / "Add.Add-op1.0.0.1.output.0.DefaultFormat.npy").touch()
    table = {run.id: run.dumps for run in discover(of(top, "~~/mine", "~~/data/*")).runs}
    assert table == {"./mine": ("./mine",), "./ann": ("./ann/dumped",)}


def test_what_is_wrong_with_a_directory_is_told_and_the_others_are_shown(top: Any, events: Any) -> None:
    events.file(top / "mine/a")
    events.file(top / "data/ann/deep/b")
    result = discover(of(top, "~~/mine", "gone=~~/gone", "deep=~~/data/ann/deep", "~~/data/*"))
    assert {run.id for run in result.runs} == {"./mine/a", "./ann/deep/b"}
    assert troubles(result.damage) == {
        (str(top / "gone"), "directory.missing"),
        (str(top / "data/ann/deep"), "directory.nested"),
    }
    assert not result.missing


def test_a_directory_that_may_not_be_looked_into_is_told(
    top: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.file(top / "mine/a")
    entries_of = folder_tree.entries_of  # type: ignore[attr-defined]

    def refusing(path: Any) -> Any:
        if str(path).endswith("ann"):
            raise PermissionError
        return entries_of(path)

    monkeypatch.setattr(folder_tree, "entries_of", refusing)
    result = discover(of(top, "~~/mine", "lab=~~/data/ann"))
    assert troubles(result.damage) == {("./lab", "directory.permission")}
    assert [run.id for run in result.runs] == ["./mine/a"]


def test_without_any_of_them_the_base_is_missing(top: Any) -> None:
    assert discover(of(top, "~~/no", "~~/none")).missing
    assert discover(of(top, "~~/none/*")).missing
    assert not discover(of(top, "~~/no", "~~/mine")).missing


@pytest.fixture(params=["polling", "events"])
def following(request: pytest.FixtureRequest, loading: Any, top: Any) -> Any:
    """Looks for what fits a pattern are not told by any file system."""
    loading(of(top, "~~/mine", "lab=~~/later", "~~/data/*"), watch=request.param, reload_interval=0.25)
    return request.param


def test_growth_is_followed_in_all(
    following: Any, top: Any, events: Any, steps: Any, store: Any, wait: Any
) -> None:
    paths = [
        events.file(top / "mine/a", events.records(1)),
        events.file(top / "data/ann/a", events.records(1)),
    ]
    assert wait(lambda: steps("./mine/a") == steps("./ann/a") == [1])
    for path in paths:
        events.append(path, events.records(2))
    assert wait(lambda: steps("./mine/a") == steps("./ann/a") == [1, 2])
    assert wait(lambda: store.snapshot().watch == following)
    assert store.snapshot().base == os.pathsep.join([f"{top}/mine", f"lab={top}/later", f"{top}/data/*"])


def test_directories_come_and_go(
    following: Any, top: Any, events: Any, steps: Any, store: Any, wait: Any
) -> None:
    events.file(top / "mine/a", events.records(1))
    assert wait(lambda: steps("./mine/a") == [1])
    assert {base.name: base.missing for base in store.snapshot().bases} == {
        "mine": False, "lab": True, "ann": False
    }  # fmt: skip
    assert troubles(store.snapshot().errors) == {(str(top / "later"), "directory.missing")}
    events.file(top / "data/bob/b", events.records(1))
    path = events.file(top / "later/c", events.records(1))
    assert wait(lambda: steps("./bob/b") == steps("./lab/c") == [1])
    assert wait(lambda: not store.snapshot().errors)
    events.append(path, events.records(2))
    assert wait(lambda: steps("./lab/c") == [1, 2])
    shutil.rmtree(top / "data/ann")
    shutil.rmtree(top / "data/bob")
    assert wait(lambda: store.snapshot().runs.keys() == {"./mine/a", "./lab/c"})
    assert wait(lambda: [base.name for base in store.snapshot().bases] == ["mine", "lab"])


def test_another_directory_in_the_place_of_one_is_followed(
    following: Any, top: Any, events: Any, steps: Any, wait: Any
) -> None:
    events.file(top / "mine/a", events.records(1))
    assert wait(lambda: steps("./mine/a") == [1])
    (top / "mine").rename(top / "old")
    path = events.file(top / "mine/b", events.records(1))
    assert wait(lambda: steps("./mine/b") == [1] and steps("./mine/a") is None)
    events.append(path, events.records(2))
    assert wait(lambda: steps("./mine/b") == [1, 2])


def test_a_link_that_leads_to_another_directory_is_followed_there(
    loading: Any, top: Any, events: Any, steps: Any, wait: Any
) -> None:
    link = top / "current"
    for version, several in (("v1", [1]), ("v2", [7, 8])):
        events.file(top / version / "run", events.records(*several))
    link.symlink_to(top / "v1")
    loading(of(top, "~~/mine", "now=~~/current"), watch="polling")
    assert wait(lambda: steps("./now/run") == [1])
    (top / "next").symlink_to(top / "v2")
    (top / "next").replace(link)
    assert wait(lambda: steps("./now/run") == [7, 8])
    events.append(top / "v2" / "run" / events.name.format(1_700_000_000), events.records(9))
    assert wait(lambda: steps("./now/run") == [7, 8, 9])


def test_how_changes_are_noticed_is_told_for_each(
    loading: Any, top: Any, events: Any, steps: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "reports_changes", lambda path: path.endswith("mine"))
    loading(of(top, "~~/mine", "~~/data/*"), watch="auto", reload_interval=0.25)
    table = {"mine": "events", "ann": "polling"}
    assert wait(lambda: {base.name: base.watch for base in store.snapshot().bases} == table)
    assert store.snapshot().watch == "both"
    path = events.file(top / "data/ann/a", events.records(1))
    assert wait(lambda: steps("./ann/a") == [1])
    events.append(path, events.records(2))
    assert wait(lambda: steps("./ann/a") == [1, 2])
    shutil.rmtree(top / "data/ann")
    assert wait(lambda: store.snapshot().watch == "events")


def test_what_was_read_is_known_again_when_one_more_is_named(
    top: Any, events: Any, loading: Any, steps: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(top / "mine/a", events.records(1, 2))
    events.file(top / "data/ann/a", events.records(1))
    first = loading(of(top, "~~/mine", "other=~~/none"))
    assert wait(lambda: steps("./mine/a") == [1, 2])
    first.stop()
    reads = []

    def noted(descriptor: Any, request: Any) -> Any:
        reads.append(request.path)
        return decode(descriptor, request)

    decode = piece_reader._read_events
    monkeypatch.setattr(piece_reader, "_read_events", noted)
    loading(of(top, "~~/mine", "other=~~/none", "~~/data/*"))
    assert wait(lambda: steps("./ann/a") == [1])
    assert steps("./mine/a") == [1, 2]
    assert str(path) not in reads
