"""Base directories by name: what they are called, what fits a pattern, where an id lies."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.settings.base_dirs import Base, bases_of
from mindinsight.server.store.mounts import disk_path, dump_id, mount_of, mounts_of
from mindinsight.server.store.run import Run


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Any]:
    """made("a/b", "c") makes the folders."""

    def make(*names: Any) -> Any:
        for name in names:
            (tmp_path / name).mkdir(parents=True)
        return tmp_path

    return make


def named(top: Any, *texts: Any) -> dict[Any, Any]:
    """Names of the base directories by where they are below ``top``."""
    mounts = mounts_of(bases_of([text if "=" in text else str(top / text) for text in texts]))
    return {os.path.relpath(mount.path, top): mount.name for mount in mounts}


def test_the_only_one_has_no_name(made: Callable[..., Any]) -> None:
    top = made("runs")
    (only,) = mounts_of(top / "runs")
    assert (only.name, only.id, only.path) == ("", "./", str(top / "runs"))


def test_a_name_that_was_given_or_the_last_part_of_the_path(made: Callable[..., Any]) -> None:
    top = made("mine")
    assert named(top, "mine", f"lab={top}/data/x", "gone") == {
        "mine": "mine",
        "data/x": "lab",
        "gone": "gone",
    }


def test_names_that_clash_take_more_of_their_paths_whatever_the_order(made: Callable[..., Any]) -> None:
    top = made()
    texts = ["a/x/runs", "b/x/runs", "b/y/runs", "other"]
    names = named(top, *texts)
    expected = {"a/x/runs": "a-x-runs", "b/x/runs": "b-x-runs", "b/y/runs": "y-runs", "other": "other"}
    assert names == expected
    assert named(top, *reversed(texts)) == expected


def test_a_given_name_is_never_changed_by_another(made: Callable[..., Any]) -> None:
    top = made()
    assert named(top, "a/lab", f"lab={top}/b") == {"a/lab": "a-lab", "b": "lab"}


def test_names_are_told_apart_even_when_their_parts_put_together_are_the_same() -> None:
    first, second = mounts_of((Base("/a-b/c"), Base("/a/b-c")))
    assert {first.name, second.name} == {"c", "b-c"}
    odd = mounts_of(
        (Base("/x/a-b/*/c", "", True), Base("/b-c"), Base("/b/c"), Base("/a/b/c"), Base("/a-b-c"))
    )
    assert len({mount.name for mount in odd}) == len(odd)


def test_a_name_is_never_the_way_up(made: Callable[..., Any]) -> None:
    top = made("a/b")
    mounts = mounts_of((Base(f"{top}/a/b/.."), Base(f"{top}/c/.")))
    assert [mount.name for mount in mounts] == ["a", "c"]


def test_what_fits_a_pattern_is_called_what_its_wildcards_stand_for(made: Callable[..., Any]) -> None:
    top = made("data/ann/runs", "data/bob/runs", "data/bob/other", "data/.hidden/runs", "data/cleo")
    assert named(top, "data/*/runs") == {"data/ann/runs": "ann", "data/bob/runs": "bob"}
    assert named(top, "data/*") == {"data/ann": "ann", "data/bob": "bob", "data/cleo": "cleo"}
    assert named(top, "data/*/r*") == {"data/ann/runs": "ann-runs", "data/bob/runs": "bob-runs"}
    assert named(top, f"lab={top}/data/[ac]*/runs") == {"data/ann/runs": "lab-ann"}
    assert named(top, "data/.h*/runs") == {"data/.hidden/runs": ".hidden"}


def test_the_name_of_a_match_needs_no_other_match(made: Callable[..., Any]) -> None:
    top = made("data/ann/runs", "data/bob/runs")
    both = named(top, "data/*/runs")
    shutil.rmtree(top / "data/ann")
    assert named(top, "data/*/runs")["data/bob/runs"] == both["data/bob/runs"] == "bob"


def test_a_pattern_is_matched_anew_each_time(made: Callable[..., Any]) -> None:
    top = made("data")
    bases = bases_of(f"{top}/data/*")
    assert mounts_of(bases) == ()
    made("data/ann")
    assert [mount.name for mount in mounts_of(bases)] == ["ann"]
    (top / "data/ann").rmdir()
    (top / "data/file").touch()
    assert mounts_of(bases) == ()


def test_links_are_not_followed_where_wildcards_are(made: Callable[..., Any]) -> None:
    top = made("data/ann/runs", "data/bob", "secret/runs")
    (top / "data/link").symlink_to(top / "secret")
    (top / "data/bob/runs").symlink_to(top / "secret/runs")
    (top / "way").symlink_to(top / "data")
    assert named(top, "data/*/runs") == {"data/ann/runs": "ann"}
    assert named(top, "way/*/runs") == {"way/ann/runs": "ann"}


def test_what_was_named_and_fits_a_pattern_keeps_its_name_and_is_there_once(made: Callable[..., Any]) -> None:
    top = made("data/ann", "data/bob")
    assert named(top, "data/*", f"boss={top}/data/ann") == {"data/ann": "boss", "data/bob": "bob"}
    assert named(top, "data/*", "data/a*") == {"data/ann": "ann", "data/bob": "bob"}


def test_one_that_lies_in_another_is_left_to_it(made: Callable[..., Any]) -> None:
    top = made("data/ann/runs/deep", "data/bob")
    mounts = mounts_of(bases_of([f"{top}/data/*", f"deep={top}/data/ann/runs/deep", f"{top}/data/*/runs"]))
    inside = {mount.path: mount.inside for mount in mounts}
    assert inside == {
        f"{top}/data/ann/runs/deep": "ann",
        f"{top}/data/ann": "",
        f"{top}/data/bob": "",
        f"{top}/data/ann/runs": "ann",
    }


def test_names_that_are_no_text_become_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).mkdir()
    (mount,) = mounts_of(bases_of(f"{tmp_path}/*"))
    assert mount.name == "\\xff"
    assert os.fsencode(mount.path).endswith(b"\xff")


def test_an_id_leads_to_its_directory(made: Callable[..., Any]) -> None:
    top = made("mine", "data/ann")
    bases = bases_of([f"{top}/mine", f"{top}/data/*"])
    assert disk_path(bases, "./mine/job/rank_0") == top / "mine/job/rank_0"
    assert disk_path(bases, "./ann") == top / "data/ann"
    assert mount_of(bases, "./ann/x").real == str(top / "data/ann")
    assert disk_path(top, "./mine/x") == top / "mine/x"
    assert disk_path(top, "./") == top


@pytest.mark.parametrize("below", ["./", "./other/x", "./../mine", "mine2", "", "./min", "//mine", "./ann"])
def test_an_id_of_no_base_directory_leads_nowhere(made: Callable[..., Any], below: str) -> None:
    top = made("mine/deep")
    bases = bases_of([f"{top}/mine", f"{top}/mi*", f"ann={top}/mine*/../mine/deep"])
    with pytest.raises(KeyError):
        disk_path(bases, below)


KNOWN = {"./a/flight_dump", "./job/flight_dump", "./flight_dump"}


def run(run_id: str, job: str = "") -> Run:
    return Run(run_id, run_id, "", job or run_id, None, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("record", "relative", "dump"),
    [
        (run("./a"), "flight_dump", "./a/flight_dump"),
        (run("./"), "flight_dump", "./flight_dump"),
        (run("./job/rank_1", "./job"), "../flight_dump", "./job/flight_dump"),
        (
            run("./job/rank_1", "./job"),
            "flight_dump",
            "./job/flight_dump",
        ),  # one folder for all ranks
        (run("./a"), "", None),
        (run("./a"), "other", None),
        (run("./a"), "../../../etc", None),
        (run("./a"), "/etc", None),
    ],
)
def test_a_dump_is_named_only_where_it_was_discovered(record: Run, relative: str, dump: str | None) -> None:
    assert dump_id(record, relative, KNOWN) == dump
