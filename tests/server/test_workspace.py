import json
import stat

import pytest

from mindinsight.server.workspace import Note, Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "workspace", tmp_path / "base")


def test_what_is_written_is_there_after_a_restart(workspace, tmp_path):
    workspace.change("./a", note="first try", labels=("x", "y"), pinned=True, colour="#123456")
    again = Workspace(tmp_path / "workspace", tmp_path / "base")
    assert again.notes() == {"./a": Note("first try", ("x", "y"), False, True, "#123456")}


def test_fields_not_named_stay(workspace):
    workspace.change("./a", note="n")
    workspace.change("./a", hidden=True)
    assert workspace.notes()["./a"] == Note("n", hidden=True)


def test_a_note_without_content_is_forgotten(workspace):
    workspace.change("./a", hidden=True)
    workspace.change("./a", hidden=False)
    assert workspace.notes() == {}


def test_every_change_is_a_new_version(workspace):
    before = workspace.version
    workspace.change("./a", hidden=True)
    assert workspace.version > before


def test_bases_do_not_mix(workspace, tmp_path):
    workspace.change("./a", note="of base")
    other = Workspace(tmp_path / "workspace", tmp_path / "other")
    assert other.notes() == {}
    other.change("./a", note="of other")
    assert Workspace(tmp_path / "workspace", tmp_path / "base").notes()["./a"].note == "of base"


def test_only_the_user_can_read_it(workspace, tmp_path):
    workspace.change("./a", note="n")
    assert stat.S_IMODE((tmp_path / "workspace").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "workspace" / "notes.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["{half", "[]", '{"base": 3}', "null"])
def test_a_file_that_is_not_ours_is_put_aside(tmp_path, content):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.json").write_text(content)
    workspace = Workspace(folder, tmp_path / "base")
    assert workspace.notes() == {}
    assert (folder / "notes.json.damaged").read_text() == content
    workspace.change("./a", note="n")
    assert Workspace(folder, tmp_path / "base").notes()["./a"].note == "n"


def test_fields_of_a_later_version_are_left_out(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    content = {str(tmp_path / "base"): {"./a": {"note": "n", "mood": "good"}}}
    (folder / "notes.json").write_text(json.dumps(content))
    assert Workspace(folder, tmp_path / "base").notes() == {"./a": Note("n")}


def test_a_change_that_cannot_be_kept_is_not_made(workspace, tmp_path):
    (tmp_path / "workspace").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="workspace"):
        workspace.change("./a", note="n")
    assert workspace.notes() == {}
