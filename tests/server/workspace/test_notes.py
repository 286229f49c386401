import json
import stat
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.workspace.notes import Note, Notes


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
