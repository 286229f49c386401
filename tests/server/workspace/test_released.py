"""The workspace that 3.0.0 wrote (`tests/data/workspace_3.0.0.zip`): everything in it is read, and a change
keeps the rest. A release adds its own file, and a test of it; only a major version removes one.
"""

import zipfile
from pathlib import Path

import pytest

from mindinsight.server.workspace import Workspace

ZIP = Path(__file__).parents[2] / "data" / "workspace_3.0.0.zip"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o700)
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(folder)
    for path in folder.rglob("*"):  # a zip has no modes
        path.chmod(0o700 if path.is_dir() else 0o600)
    return Workspace(folder, Path("/data/summary"), list)


def test_everything_is_read(workspace: Workspace) -> None:
    note = workspace.notes.all()["./run1"]
    assert (note.note, note.labels, note.pinned) == ("First **good** run", ("good", "sgd"), True)
    assert (note.colour, note.name, note.group) == ("#336699", "baseline", "sweep")
    assert workspace.notes.all()["./run2"].archived
    assert workspace.views.all()["losses"].query == "q=loss&s=0.9"
    assert workspace.defaults.all()["scalar"].query == "x=wall"
    assert [
        (rule.condition, rule.limit) for rule in workspace.rules.all().values() if rule.tags == "loss"
    ] == [("above", 10.0)]
    assert workspace.slots.of(["./run2", "./run1"]) == {"./run1": 0, "./run2": 1}
    ((id_, report),) = workspace.reports.all().items()
    assert [block.text for block in report.blocks] == ["# What is seen", "They part."]
    assert b"frozen" in workspace.reports.frozen(id_, report.blocks[1].frozen)


def test_a_change_keeps_the_rest(workspace: Workspace) -> None:
    workspace.notes.change("./run3", note="new")
    assert workspace.notes.all()["./run1"].name == "baseline"
    assert set(workspace.notes.all()) == {"./run1", "./run2", "./run3"}
