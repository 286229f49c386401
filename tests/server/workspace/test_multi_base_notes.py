"""Notes of several base directories: kept with each directory, under whatever name it is shown."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.multi_base_notes import MultiBaseNotes
from mindinsight.server.workspace.notes import Note, Notes


@pytest.fixture
def beside(tmp_path: Path) -> Callable[..., Any]:
    """beside(lab="/b") -> the notes of these directories, in one workspace."""

    def of(**paths: Any) -> MultiBaseNotes:
        return MultiBaseNotes(
            tmp_path, lambda: [Watched(name, paths[name], "polling", False) for name in paths]
        )

    return of


def test_a_note_goes_to_its_directory_and_comes_back_under_its_name(
    beside: Callable[..., Any], tmp_path: Path
) -> None:
    notes = beside(mine="/a", lab="/b")
    assert notes.change("./lab/job/x", note="n") == Note("n")
    notes.change("./mine", hidden=True)
    assert notes.all() == {"./mine": Note(hidden=True), "./lab/job/x": Note("n")}
    assert Notes(tmp_path, Path("/b")).all() == {"./job/x": Note("n")}
    assert Notes(tmp_path, Path("/a")).all() == {"./": Note(hidden=True)}


def test_what_was_noted_when_a_directory_was_alone_is_there_beside_others(
    beside: Callable[..., Any], tmp_path: Path
) -> None:
    Notes(tmp_path, Path("/a")).change("./run", note="alone")
    assert beside(first="/a").all() == {"./first/run": Note("alone")}
    assert beside(other="/b", renamed="/a").all() == {"./renamed/run": Note("alone")}


def test_directories_that_come_bring_their_notes_and_take_them_along(tmp_path: Path) -> None:
    Notes(tmp_path, Path("/b")).change("./run", note="n")
    there = [Watched("mine", "/a", "polling", False)]
    notes = MultiBaseNotes(tmp_path, lambda: there)
    assert notes.all() == {}
    before = notes.version
    there.append(Watched("lab", "/b", "polling", False))
    assert notes.all() == {"./lab/run": Note("n")}
    assert notes.version > before
    there.pop()
    assert notes.all() == {}


def test_every_change_is_a_new_version(beside: Callable[..., Any]) -> None:
    notes = beside(mine="/a", lab="/b")
    seen = {notes.version}
    for run in ("./mine/x", "./lab/x", "./mine/x"):
        notes.change(run, note=str(len(seen)))
        seen.add(notes.version)
    assert len(seen) == 4


def test_a_note_on_a_directory_that_is_gone_cannot_be_kept(beside: Callable[..., Any]) -> None:
    with pytest.raises(OSError, match=r"\./gone/run is gone"):
        beside(mine="/a").change("./gone/run", note="n")


def test_changes_at_the_same_time_are_all_kept(beside: Callable[..., Any], tmp_path: Path) -> None:
    notes = beside(**{f"dir{number}": f"/{number}" for number in range(4)})

    def write(number: Any) -> None:
        for step in range(20):
            notes.change(f"./dir{number}/run{step}", note="n")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(beside(**{f"dir{number}": f"/{number}" for number in range(4)}).all()) == 80


def test_the_pin_is_the_last_one_whichever_server_made_it(beside: Callable[..., Any], tmp_path: Path) -> None:
    several, single = beside(left="/a", right="/b"), Notes(tmp_path, Path("/a"))
    several.change("./right/y", pinned=True)
    single.change("./x", pinned=True)
    assert [run for run, note in several.all().items() if note.pinned] == ["./left/x"]
    several.change("./left/x", pinned=False)
    assert not any(note.pinned for note in several.all().values())
    assert Notes(tmp_path, Path("/b")).all() == {}


def test_taking_the_pin_from_a_run_that_has_none_leaves_it_to_the_other(beside: Callable[..., Any]) -> None:
    several = beside(left="/a", right="/b")
    several.change("./right/y", pinned=True)
    several.change("./left/x", note="n", pinned=False)
    assert several.all() == {"./left/x": Note("n"), "./right/y": Note(pinned=True)}


def test_a_pin_says_nothing_of_a_directory_that_is_not_shown(
    beside: Callable[..., Any], tmp_path: Path
) -> None:
    Notes(tmp_path, Path("/elsewhere")).change("./run", pinned=True)
    beside(left="/a", right="/b").change("./right/y", pinned=True)
    assert Notes(tmp_path, Path("/elsewhere")).all() == {"./run": Note(pinned=True)}


def test_two_pins_that_an_earlier_version_left_behind_are_shown_as_one(
    beside: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "notes.json").write_text(
        '{"/a": {"./x": {"pinned": true}}, "/b": {"./y": {"pinned": true, "note": "n"}}}'
    )
    several = beside(left="/a", right="/b")
    assert several.all() == {"./left/x": Note(), "./right/y": Note("n", pinned=True)}
    several.change("./left/x", pinned=True)
    assert several.all() == {"./left/x": Note(pinned=True), "./right/y": Note("n")}
