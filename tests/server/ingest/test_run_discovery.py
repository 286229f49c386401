"""Which runs, jobs, ranks and dumps lie below a base directory."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import folder_tree as directories
from mindinsight.server.ingest import folder_tree as tree_module
from mindinsight.server.ingest.folder_tree import FolderTree
from mindinsight.server.ingest.run_discovery import discover_runs
from tests.server.ingest.stretches import discover


def ids(discovery: Any) -> set[Any]:
    return {run.id for run in discovery.runs}


def aged(path: Any, seconds: Any) -> Any:
    os.utime(path, (seconds, seconds))
    return path


def test_the_base_its_children_and_folders_below_are_found_down_to_a_depth(base: Any, events: Any) -> None:
    for below in ("", "a", "job/rank_0", "1/2/3/4", "1/2/3/4/5"):
        events.file(base / below)
    result = discover(base)
    assert ids(result) == {"./", "./a", "./job/rank_0", "./1/2/3/4"}
    by_id = {run.id: run for run in result.runs}
    assert by_id["./"].name == "summary"
    assert by_id["./job/rank_0"].name == "job/rank_0"
    assert (by_id["./job/rank_0"].job, by_id["./job/rank_0"].rank) == ("./job", 0)
    assert by_id["./a"].path == str(base / "a")


def test_a_folder_is_a_run_by_the_files_directly_in_it(base: Any, events: Any) -> None:
    events.file(base / "summary")
    events.file(base / "lineage", name="events.out.events.summary.{}.0.host_lineage")
    events.file(base / "graph", name="ms_output_optimize.pb")
    events.file(base / "explain", name="events.out.events.summary.{}.0.host_explain")
    events.file(base / "memory", name="memory_usage_0.pb")
    events.file(base / "other", name="notes.txt")
    events.file(base / ".hidden")
    events.file(base / "ckpt_dir")
    assert ids(discover(base)) == {"./summary", "./lineage", "./graph"}


def test_links_to_folders_are_left_alone_and_links_to_files_are_named_when_read(
    base: Any, events: Any, tmp_path: Path
) -> None:
    events.file(tmp_path / "outside")
    (base / "link").symlink_to(tmp_path / "outside")
    (base / "loop").symlink_to(base)
    target = events.file(base / "a")
    (base / "b").mkdir()
    (base / "b" / target.name).symlink_to(target)
    assert ids(discover(base)) == {"./a", "./b"}


def test_the_newest_runs_are_kept_and_the_others_counted(base: Any, events: Any) -> None:
    for number in range(8):
        aged(events.file(base / f"run{number}"), 1_000_000 + (number * 7) % 8)
    result = discover(base, limit=3)
    assert [run.id for run in result.runs] == ["./run1", "./run2", "./run3"]
    assert result.left_out == 5


def test_times_come_from_names_and_writes(base: Any, events: Any) -> None:
    aged(events.file(base / "a", seconds=1_700_000_500), 1_700_000_900)
    aged(events.file(base / "a", seconds=1_700_000_100), 1_700_000_950)
    (run,) = discover(base).runs
    assert (run.created, run.updated) == (1_700_000_500.0, 1_700_000_950.0)


def names_of(discovery: Any) -> dict[Any, Any]:
    return {run.id: (run.job, run.rank, sorted(run.files)) for run in discovery.runs}


def test_ranks_that_write_into_one_folder_are_runs_of_one_job(base: Any, events: Any) -> None:
    name = "events.out.events.summary.{}.%d.host%s"
    for rank in (0, 1, 3):
        for suffix in ("_MS", "_lineage"):
            path = events.file(base / "job", seconds=1_700_000_000 + rank, name=name % (rank, suffix))
            aged(path, 1_700_000_900)
    events.file(base / "job", name="graph.pb")
    names = names_of(discover(base))
    assert {run: (job, rank) for run, (job, rank, _) in names.items()} == {
        "./job": ("./job", 0),
        "./job/rank_1": ("./job", 1),
        "./job/rank_3": ("./job", 3),
    }
    files = (name % (1, "_MS"), name % (1, "_lineage"))
    assert names["./job/rank_1"][2] == sorted(file.format(1_700_000_001) for file in files)
    assert "graph.pb" in names["./job"][2]
    assert {run.path for run in discover(base).runs} == {str(base / "job")}


def test_a_training_resumed_on_another_device_stays_one_run(base: Any, events: Any) -> None:
    for start, end, device in ((1_700_000_000, 1_700_000_100, 0), (1_700_000_200, 1_700_000_300, 3)):
        aged(
            events.file(base / "a", seconds=start, name=f"events.out.events.summary.{{}}.{device}.h_MS"), end
        )
    assert ids(discover(base)) == {"./a"}


def test_ranks_are_not_told_apart_where_a_folder_has_the_name_of_one(base: Any, events: Any) -> None:
    for rank in (0, 1):
        events.file(base / "job", name=f"events.out.events.summary.{{}}.{rank}.h_MS")
    events.file(base / "job" / "rank_1")
    assert ids(discover(base)) == {"./job", "./job/rank_1"}
    assert len(names_of(discover(base))["./job"][2]) == 2


def test_a_missing_base_is_an_answer(base: Any) -> None:
    result = discover(base / "nothing")
    assert (result.missing, result.runs) == (True, ())


def test_a_folder_that_cannot_be_looked_into_is_told_and_keeps_what_was_seen(
    base: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.file(base / "a")
    events.file(base / "b")
    tree = FolderTree(base)
    tree.scan()
    listing = directories.entries_of  # type: ignore[attr-defined]

    def refuse(path: Any) -> Any:
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(directories, "entries_of", refuse)
    tree.scan()
    result = discover_runs(tree, 999)
    assert ids(result) == {"./a", "./b"}
    assert [(trouble.path, trouble.reason) for trouble in result.damage] == [("./a", "directory.permission")]
    monkeypatch.undo()
    tree.scan()
    assert discover_runs(tree, 999).damage == ()


def test_very_many_folders_are_a_trouble_and_not_a_hang(
    base: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "MAX_FOLDERS", 10)
    events.file(base)
    for number in range(30):
        events.file(base / f"run{number}")
    result = discover(base)
    assert len(result.runs) == 10
    assert [(trouble.path, trouble.reason) for trouble in result.damage] == [("./", "directory.too_many")]


def test_a_folder_that_vanishes_while_it_is_looked_at(
    base: Any, events: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.file(base / "a")
    events.file(base / "b")
    result = FolderTree(base)
    result.scan()
    looked = tree_module.list_folder

    def without_a(path: Any, now: Any) -> Any:
        return None if path.endswith("/a") else looked(path, now)

    monkeypatch.setattr(tree_module, "list_folder", without_a)
    result.scan()
    assert set(result.folders) == {"./", "./b"}


def test_dumps_are_shown_with_the_nearest_run_above_or_with_the_folder_they_lie_in(
    base: Any, events: Any
) -> None:
    dumps = {"run/dump", "run/deep/dump", "alone/dump"}
    for below in dumps:
        events.file(base / below / "rank_0" / "net")
    events.file(base / "run")
    tree = FolderTree(base, dump=lambda path: path.endswith("/dump"))
    tree.scan()
    table = {run.id: run.dumps for run in discover_runs(tree, 999).runs}
    assert table == {"./run": ("./run/deep/dump", "./run/dump"), "./alone": ("./alone/dump",)}


def test_a_dump_beside_the_folders_of_ranks_is_shown_with_the_lowest(base: Any, events: Any) -> None:
    for rank in (2, 10, 1):
        events.file(base / "job" / f"rank_{rank}")
        events.file(base / "job" / "flight_dump" / f"rank_{rank}" / "net")
    tree = FolderTree(base, dump=lambda path: path.endswith("/flight_dump"))
    tree.scan()
    table = {run.id: run.dumps for run in discover_runs(tree, 999).runs}
    assert table == {"./job/rank_1": ("./job/flight_dump",), "./job/rank_2": (), "./job/rank_10": ()}


def test_a_base_that_is_a_run_has_the_dumps_directly_in_it_and_no_others(base: Any, events: Any) -> None:
    for below in ("a/dump", "b/dump", "b/deep/dump", "dump"):
        events.file(base / below / "rank_0" / "net")
    events.file(base)
    tree = FolderTree(base, dump=lambda path: path.endswith("/dump"))
    tree.scan()
    assert {run.id: run.dumps for run in discover_runs(tree, 999).runs} == {
        "./": ("./dump",),
        "./a": ("./a/dump",),
        "./b": ("./b/dump",),
        "./b/deep": ("./b/deep/dump",),
    }


def test_a_folder_with_a_profile_is_a_run(base: Any) -> None:
    for name in ("both/profiler", "one/profiler_2024", "empty/profiler", "other/profile"):
        (base / name).mkdir(parents=True)
    for name in ("both/profiler", "one/profiler_2024", "other/profile"):
        (base / name / "profiler_info_0.json").touch()
    (base / "empty" / "profiler" / "notes.txt").touch()
    assert ids(discover(base)) == {"./both", "./one"}


def test_a_glance_sees_a_profile_come(base: Any, events: Any) -> None:
    events.file(base)
    tree = FolderTree(base)
    tree.scan()
    (base / "profiler").mkdir()
    assert tree.check_folder("./").structure


def test_ranks_that_hold_both_events_and_dumps_are_runs_of_a_dump(base: Any, events: Any) -> None:
    for rank in range(2):
        events.file(base / "job" / f"rank_{rank}" / "net" / "0")
        events.file(base / "job" / f"rank_{rank}")
    tree = FolderTree(base, dump=lambda path: path.endswith("/job"))
    tree.scan()
    table = {run.id: (run.job, run.dumps) for run in discover_runs(tree, 999).runs}
    assert table.pop("./") == ("./", ("./job",))
    assert table == {f"./job/rank_{rank}": ("./job", ()) for rank in range(2)}


def test_a_folder_of_runs_is_not_taken_for_a_dump(base: Any, events: Any) -> None:
    results = []
    for name in ("lr_1", "lr_2"):
        events.file(base / name)
    tree = FolderTree(base, dump=lambda path: results.append(path) or True)
    tree.scan()
    assert (results, tree.dumps) == ([], set())


def test_a_real_dump_is_recognised(base: Any) -> None:
    metadata = base / "job" / "dump" / "rank_0" / ".dump_metadata"
    metadata.mkdir(parents=True)
    (metadata / "data_dump.json").write_text("{}")
    (base / "job" / "dump" / "rank_0" / "net" / "0" / "0").mkdir(parents=True)
    (run,) = discover(base).runs
    assert (run.id, run.dumps, dict(run.files)) == ("./job", ("./job/dump",), {})


def test_a_name_that_is_not_text_is_a_run_with_a_name_that_is(base: Any, events: Any) -> None:
    folder = base / b"r\xff".decode("utf-8", "surrogateescape")
    events.file(folder)
    (run,) = discover(base).runs
    assert (run.id, run.path) == ("./r\\xff", str(folder))


@pytest.fixture
def settled(base: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A tree whose folders were last changed long ago."""

    def made() -> Any:
        for folder, _, _ in os.walk(base, topdown=False):
            aged(folder, 1_000_000)
        tree = FolderTree(base)
        tree.scan()
        return tree

    return made


def test_a_glance_at_a_quiet_folder_lists_nothing(
    base: Any, events: Any, settled: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", b"1")
    tree = settled()
    monkeypatch.setattr(directories, "entries_of", None)
    assert tree.check_folder("./a").written == ()
    path.write_bytes(b"12")
    assert tree.check_folder("./a") == tree.check_folder("./nowhere").__class__(written=(path.name,))
    assert tree.check_folder("./a").written == ()


def test_a_glance_sees_files_and_folders_come_and_go(
    base: Any, events: Any, settled: Callable[..., Any]
) -> None:
    path = events.file(base / "a")
    tree = settled()
    assert not tree.check_folder("./").structure
    events.file(base / "b")
    assert tree.check_folder("./").structure
    assert ids(discover_runs(tree, 999)) == {"./a", "./b"}
    path.unlink()
    assert tree.check_folder("./a").structure
    path.parent.rmdir()
    assert tree.check_folder("./").structure
    assert ids(discover_runs(tree, 999)) == {"./b"}


def test_a_glance_tells_which_of_the_named_files_grew(
    base: Any, events: Any, settled: Callable[..., Any]
) -> None:
    first, second = events.file(base / "a", seconds=1), events.file(base / "a", seconds=2)
    tree = settled()
    for path in (first, second):
        path.write_bytes(b"more")
    assert tree.check_folder("./a", [first.name]).written == (first.name,)
    assert tree.check_folder("./a").written == (second.name,)


def test_paths_are_known_by_their_folder(base: Any, events: Any) -> None:
    events.file(base / "a" / "b")
    tree = FolderTree(base)
    tree.scan()
    assert tree.known(str(base)) == "./"
    assert tree.known(str(base / "a" / "b")) == "./a/b"
    assert tree.known(str(base / "c")) is None
    assert tree.known(str(base.parent)) is None
