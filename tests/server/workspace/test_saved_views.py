import json
import stat
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.workspace.json_store import Full, Taken
from mindinsight.server.workspace.saved_views import (
    MAX_DEFAULT,
    MAX_QUERY,
    MAX_VIEWS,
    Default,
    Defaults,
    View,
    Views,
)

LOSS = View("scalar", "q=loss&runs=a,b")
TREE = View("graph", "")


@pytest.fixture
def views(tmp_path: Path) -> Views:
    return Views(tmp_path / "workspace", tmp_path / "base")


def test_what_is_saved_is_there_after_a_restart_for_this_base_alone(views: Views, tmp_path: Path) -> None:
    views.keep("late loss", LOSS)
    views.keep("网络", TREE)
    assert Views(tmp_path / "workspace", tmp_path / "base").all() == {"late loss": LOSS, "网络": TREE}
    assert Views(tmp_path / "workspace", tmp_path / "other").all() == {}


def test_only_the_user_can_read_them(views: Views, tmp_path: Path) -> None:
    views.keep("a", LOSS)
    assert stat.S_IMODE((tmp_path / "workspace" / "views.json").stat().st_mode) == 0o600


def test_the_same_name_takes_the_place_of_the_older(views: Views) -> None:
    views.keep("a", LOSS)
    views.keep("b", LOSS)
    views.keep("a", TREE)
    assert list(views.all().items()) == [("a", TREE), ("b", LOSS)]


def test_another_name_keeps_the_place(views: Views) -> None:
    views.keep("a", LOSS)
    views.keep("b", TREE)
    views.rename("a", "c")
    assert list(views.all()) == ["c", "b"]
    with pytest.raises(Taken):
        views.rename("c", "b")
    views.rename("c", "c")
    with pytest.raises(KeyError):
        views.rename("a", "d")
    assert views.all() == {"c": LOSS, "b": TREE}


def test_what_is_forgotten_is_gone(views: Views, tmp_path: Path) -> None:
    views.keep("a", LOSS)
    views.forget("a")
    with pytest.raises(KeyError):
        views.forget("a")
    assert Views(tmp_path / "workspace", tmp_path / "base").all() == {}


def test_there_is_an_end_to_what_is_kept(views: Views) -> None:
    for number in range(MAX_VIEWS):
        views.keep(str(number), TREE)
    with pytest.raises(Full):
        views.keep("one more", TREE)
    views.keep("0", LOSS)
    assert (len(views.all()), views.all()["0"]) == (MAX_VIEWS, LOSS)


@pytest.mark.parametrize(
    "fields",
    [
        {"view": "//other.host/x", "query": ""},
        {"view": "https://other.host", "query": ""},
        {"view": "../../etc", "query": ""},
        {"view": "scalar\n", "query": ""},
        {"view": "scalar", "query": "a=1#b"},
        {"view": "scalar", "query": "a=1\n"},
        {"view": "scalar", "query": "x" * (MAX_QUERY + 1)},
        {"view": 3, "query": "a=1"},
        {"query": "a=1"},
    ],
)
def test_what_somebody_else_wrote_into_the_file_leads_nowhere(tmp_path: Path, fields: Any) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    content = {
        str(tmp_path / "base"): {"bad": fields, "good": {"view": "scalar", "query": "a=1", "mood": "b"}}
    }
    (folder / "views.json").write_text(json.dumps(content))
    assert Views(folder, tmp_path / "base").all() == {"good": View("scalar", "a=1")}


def test_what_cannot_be_kept_is_not_there(views: Views, tmp_path: Path) -> None:
    (tmp_path / "workspace").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="workspace"):
        views.keep("a", LOSS)
    assert views.all() == {}


@pytest.fixture
def defaults(tmp_path: Path) -> Defaults:
    return Defaults(tmp_path / "workspace", tmp_path / "base")


def test_settings_are_there_after_a_restart_for_this_base_alone(defaults: Defaults, tmp_path: Path) -> None:
    before = defaults.version
    defaults.keep("scalar", "s=0.9&x=wall")
    defaults.keep("histogram", "m=overlay")
    defaults.keep("scalar", "s=0.5")
    assert defaults.version != before
    again = Defaults(tmp_path / "workspace", tmp_path / "base")
    assert again.all() == {"histogram": Default("m=overlay"), "scalar": Default("s=0.5")}
    assert Defaults(tmp_path / "workspace", tmp_path / "other").all() == {}


def test_an_empty_query_forgets(defaults: Defaults) -> None:
    defaults.keep("scalar", "s=0.9")
    defaults.keep("scalar", "")
    defaults.keep("graph", "")
    assert defaults.all() == {}


def test_what_somebody_wrote_into_the_file_is_no_address_of_ours(defaults: Defaults, tmp_path: Path) -> None:
    defaults.keep("scalar", "s=0.9")
    file = tmp_path / "workspace" / "defaults.json"
    odd = {"tensor": {"query": "a b"}, "image": {"query": "x" * (MAX_DEFAULT + 1)}, "graph": {"query": 1}}
    content = json.loads(file.read_text())
    [base] = [key for key, value in content.items() if value == {"scalar": {"query": "s=0.9"}}]
    content[base] |= odd
    file.write_text(json.dumps(content))
    assert defaults.all() == {"scalar": Default("s=0.9"), "graph": Default("1")}
