import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.notes import MultiBaseNotes, Note, Notes


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "workspace", tmp_path / "base")


def test_what_is_written_is_there_after_a_restart(notes: Notes, tmp_path: Path) -> None:
    notes.change("./a", note="first try", labels=("x", "y"), pinned=True, colour="#123456")
    again = Notes(tmp_path / "workspace", tmp_path / "base")
    assert again.all() == {"./a": Note("first try", ("x", "y"), False, True, "#123456")}


def test_fields_not_named_stay(notes: Notes) -> None:
    notes.change("./a", note="n")
    notes.change("./a", hidden=True)
    assert notes.all()["./a"] == Note("n", hidden=True)


def test_a_note_without_content_is_forgotten(notes: Notes) -> None:
    notes.change("./a", hidden=True)
    notes.change("./a", hidden=False)
    assert notes.all() == {}


def test_every_change_is_a_new_version(notes: Notes) -> None:
    before = notes.version
    notes.change("./a", hidden=True)
    assert notes.version > before


def test_bases_do_not_mix(notes: Notes, tmp_path: Path) -> None:
    notes.change("./a", note="of base")
    other = Notes(tmp_path / "workspace", tmp_path / "other")
    assert other.all() == {}
    other.change("./a", note="of other")
    assert Notes(tmp_path / "workspace", tmp_path / "base").all()["./a"].note == "of base"


def test_what_was_stored_under_another_spelling_of_the_directory_is_there(tmp_path: Path) -> None:
    old = Notes(tmp_path, Path("/runs/x/../lab"))
    text = {
        "/runs/x/../lab": {"./a": {"note": "old"}, "./b": {"note": "kept"}},
        "/runs/lab": {"./a": {"note": "new"}},
    }
    (tmp_path / "notes.json").write_text(json.dumps(text))
    notes = Notes(tmp_path, Path("/runs/lab"))
    assert notes.all() == {"./a": Note("new"), "./b": Note("kept")}
    notes.change("./b", note="")
    assert Notes(tmp_path, Path("/runs/lab")).all() == {"./a": Note("new")}
    assert old.all() == {}


def test_only_the_user_can_read_it(notes: Notes, tmp_path: Path) -> None:
    notes.change("./a", note="n")
    assert stat.S_IMODE((tmp_path / "workspace").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "workspace" / "notes.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", ["{half", "[]", '{"base": 3}', '{"base": {"./a": 3}}', "null", "[" * 100_000, '{"a":' * 5000]
)
def test_a_file_that_is_not_ours_is_put_aside(tmp_path: Path, content: Any) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.json").write_text(content)
    notes = Notes(folder, tmp_path / "base")
    assert notes.all() == {}
    assert (folder / "notes.json.damaged").read_text() == content
    notes.change("./a", note="n")
    assert Notes(folder, tmp_path / "base").all()["./a"].note == "n"


def test_fields_of_a_later_version_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    content = {str(tmp_path / "base"): {"./a": {"note": "n", "mood": "good"}}}
    (folder / "notes.json").write_text(json.dumps(content))
    assert Notes(folder, tmp_path / "base").all() == {"./a": Note("n")}


@pytest.mark.parametrize(
    "fields",
    [
        {"labels": None}, {"labels": 3}, {"labels": [3]}, {"note": None}, {"hidden": "yes"}, {"pinned": 1},
        {"colour": []}, {"tag": "x"}, {"tag": True},
    ],
)  # fmt: skip
def test_wrong_fields_are_left_out(tmp_path: Path, fields: Any) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    content = {str(tmp_path / "base"): {"./a": {"note": "n", "hidden": True, **fields}}}
    (folder / "notes.json").write_text(json.dumps(content))
    wrong = next(iter(fields))
    expected: dict[str, Any] = {"note": "n", "hidden": True}
    expected.pop(wrong, None)
    assert Notes(folder, tmp_path / "base").all() == {"./a": Note(**expected)}


def test_a_lone_surrogate_is_no_part_of_a_note(notes: Notes, tmp_path: Path) -> None:
    assert notes.change("./a", note="x\udc80y", labels=("\ud800",)) == Note("x?y", ("?",))
    assert Notes(tmp_path / "workspace", tmp_path / "base").all() == notes.all()


def test_a_change_that_cannot_be_kept_is_not_made(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "workspace").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="workspace"):
        notes.change("./a", note="n")
    assert notes.all() == {}


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


def test_every_change_is_a_new_version_of_multi_base_notes(beside: Callable[..., Any]) -> None:
    notes = beside(mine="/a", lab="/b")
    seen = {notes.version}
    for run in ("./mine/x", "./lab/x", "./mine/x"):
        notes.change(run, note=str(len(seen)))
        seen.add(notes.version)
    assert len(seen) == 4


def test_a_note_on_a_directory_that_is_gone_cannot_be_kept(beside: Callable[..., Any]) -> None:
    with pytest.raises(OSError, match=r"\./gone/run was removed"):
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


def test_changes_of_several_bases_are_returned_by_run(tmp_path: Path) -> None:
    bases = [Watched(name, str(tmp_path / name), "events", False) for name in ("a", "b")]
    notes = MultiBaseNotes(tmp_path / "workspace", lambda: bases)
    changed = notes.change_all({"./a/x": {"group": "g"}, "./b": {"archived": True}, "./b/x": {"name": "n"}})
    assert changed == {"./a/x": Note(group="g"), "./b": Note(archived=True), "./b/x": Note(name="n")}
    assert notes.all() == changed
