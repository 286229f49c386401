"""One file, several servers, and several versions of them."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.workspace.alert_rules import Rule, Rules
from mindinsight.server.workspace.json_store import Full, JsonStore, storing
from mindinsight.server.workspace.notes import Notes
from mindinsight.server.workspace.report_documents import Block, Reports
from tests.narrowing import require

CHANGES = 60
WRITE = """
import sys
from pathlib import Path
from mindinsight.server.workspace import Workspace
folder, base, name, count = sys.argv[1:]
workspace = Workspace(Path(folder), Path(base), list)
from mindinsight.server.workspace.alert_rules import Rule
from mindinsight.server.workspace.saved_views import View
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(count)):
    workspace.notes.change(f"./{name}{number}", note=name)
    workspace.notes.change("./shared", note=f"{name}{number}")
    workspace.views.keep(f"{name}{number}", View("scalar", "a=1"))
    if number < 20:
        workspace.rules.add(Rule("above", limit=float(number), tags=name))
"""


@dataclass(frozen=True)
class Value:
    text: str


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Any]:
    return lambda base="base": JsonStore(tmp_path / "values.json", tmp_path / base, lambda f: Value(**f))


def put(name: Any, text: Any) -> Callable[..., Any]:
    return lambda values: {**values, name: Value(text)}


def test_two_processes_lose_and_double_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path / "workspace"), str(tmp_path / "base")]
    writers = [
        subprocess.Popen(
            [*command, name, str(CHANGES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    for writer in writers:
        assert require(writer.stdout).readline() == "ready\n"
    for writer in writers:
        require(writer.stdin).write("go\n")
        require(writer.stdin).flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    from mindinsight.server.workspace import Workspace

    workspace = Workspace(tmp_path / "workspace", tmp_path / "base", list)
    names = {f"{name}{number}" for name in "ab" for number in range(CHANGES)}
    notes = workspace.notes.all()
    assert set(notes) == {f"./{name}" for name in names} | {"./shared"}
    assert notes["./shared"].note in (f"a{CHANGES - 1}", f"b{CHANGES - 1}")
    assert set(workspace.views.all()) == names
    rules = [rule for rule in workspace.rules.all().values() if rule.condition == "above"]
    assert sorted((rule.tags, rule.limit) for rule in rules) == [
        (n, float(i)) for n in "ab" for i in range(20)
    ]
    assert not list((tmp_path / "workspace").glob(".*"))


def test_what_another_server_keeps_is_seen(store: Callable[..., Any]) -> None:
    mine, theirs = store(), store()
    before = mine.version
    theirs.update(put("a", "x"))
    assert mine.version > before
    assert mine.all() == {"a": Value("x")}
    mine.update(put("b", "y"))
    assert theirs.all() == {"a": Value("x"), "b": Value("y")}


def test_a_version_stays_while_nothing_changes(store: Callable[..., Any]) -> None:
    mine = store()
    mine.update(put("a", "x"))
    assert mine.version == mine.version


def test_a_name_with_a_surrogate_comes_back(store: Callable[..., Any]) -> None:
    store().update(put("\udc80", "x"))
    assert store().all() == {"\udc80": Value("x")}


def test_a_directory_in_its_place_hides_nothing_and_is_said_at_a_change(tmp_path: Path) -> None:
    (tmp_path / "notes.json").mkdir()
    notes = Notes(tmp_path, tmp_path / "base")
    assert notes.all() == {}
    with pytest.raises(OSError, match="directory"):
        notes.change("./a", note="n")
    assert not list(tmp_path.glob(".notes-*"))


def test_a_file_that_cannot_be_written_leaves_no_other_behind(
    store: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mindinsight.server.workspace.json_store.os.fdopen", full)
    with pytest.raises(OSError, match="space"):
        store().update(put("a", "x"))
    assert {path.name for path in tmp_path.iterdir()} == {"values.json.lock"}


REFUSALS = {
    KeyError: ApiError(404, "unknown_view", "There is none.", view="a"),
    Full: ApiError(409, "many_views", "There are seven.", n=7),
}


@pytest.mark.parametrize(
    ("raised", "status", "key", "variables"),
    [
        (KeyError("a"), 404, "error.unknown_view", {"view": "a"}),
        (Full(), 409, "error.many_views", {"n": 7}),
        (OSError(28, "No space left on device"), 507, "error.not_kept", {"why": "No space left on device"}),
    ],
)
def test_each_refusal_has_its_status_and_its_words(
    raised: Any, status: int, key: str, variables: Any
) -> None:
    with pytest.raises(ApiError) as refusal, storing(REFUSALS):
        raise raised
    assert (refusal.value.status, refusal.value.key, refusal.value.vars) == (status, key, variables)


def test_what_goes_well_and_faults_of_our_own_pass() -> None:
    with storing(REFUSALS):
        pass
    with pytest.raises(ZeroDivisionError), storing(REFUSALS):
        raise ZeroDivisionError


def test_a_change_loses_nothing_that_a_later_version_stored(tmp_path: Path) -> None:
    """Fields that this version does not know, values that it does not understand, other directories."""
    later = {
        "/base": {
            "./a": {"note": "mine", "rating": 5},
            "./b": {"note": "", "hidden": True, "rating": 3},
        },
        "/other": {"./c": {"rating": 1}},
    }
    (tmp_path / "notes.json").write_text(json.dumps(later))
    notes = Notes(tmp_path, Path("/base"))
    notes.change("./a", note="changed")
    notes.change("./new", note="more")
    stored = json.loads((tmp_path / "notes.json").read_text())
    assert (stored["/base"]["./a"]["note"], stored["/base"]["./a"]["rating"]) == ("changed", 5)
    assert stored["/base"]["./b"]["rating"] == 3
    assert stored["/base"]["./new"]["note"] == "more"
    assert stored["/other"] == later["/other"]


def test_rules_of_a_later_version_stay_when_one_is_added(tmp_path: Path) -> None:
    unknown = {"condition": "predicts", "horizon": 100}
    (tmp_path / "rules.json").write_text(json.dumps({"/base": {"7": unknown}}))
    rules = Rules(tmp_path, Path("/base"))
    rules.add(Rule("above", limit=1.0, tags="loss"))
    stored = json.loads((tmp_path / "rules.json").read_text())["/base"]
    assert stored["7"] == unknown
    assert len(stored) >= 2


def test_blocks_of_a_report_have_further_fields(tmp_path: Path) -> None:
    reports = Reports(tmp_path, Path("/base"))
    report = reports.add("Title")
    first = reports.insert(report, Block(text="one"), "")
    file = tmp_path / "reports.json"
    content = json.loads(file.read_text())
    content["/base"][report]["blocks"][0]["language"] = "R"
    content["/base"][report]["owner"] = "ann"
    file.write_text(json.dumps(content))
    reports.insert(report, Block(text="two"), first)
    stored = json.loads(file.read_text())["/base"][report]
    assert stored["owner"] == "ann"
    assert [block.get("language") for block in stored["blocks"]] == ["R", None]


def test_a_change_that_edits_what_it_does_not_return_shows_nothing_else_than_the_file(
    store: Callable[..., Any],
) -> None:
    values = store()
    values.update(put("a", "1"))

    def change(bases: Any) -> Any:
        for of_base in bases.values():
            of_base.clear()
        return {}

    assert values.change_bases(change) == {"a": Value("1")}
    assert values.all() == {"a": Value("1")} == store().all()
