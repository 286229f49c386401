"""Default settings of pages: kept for a base directory, replaced, forgotten, and read with care."""

import json
from pathlib import Path

import pytest

from mindinsight.server.workspace.defaults import MAX_DEFAULT, Default, Defaults


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
