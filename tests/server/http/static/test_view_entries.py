import json
from pathlib import Path

import pytest

from mindinsight.server.http.static.assets import Assets
from mindinsight.server.http.static.view_entries import preloaded_scripts, view_entries


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A web package with two described views, a third without description, and one icon."""
    views = tmp_path / "static" / "js" / "views"
    (tmp_path / "locales").mkdir()
    for name, description in {
        "later": {"order": 20, "needs": ["dump"], "navigation": False, "rare": True},
        "first": {"order": 10, "needs": ["scalar", "lineage"], "scripts": ["vendor/plot.js"]},
    }.items():
        (views / name).mkdir(parents=True)
        (views / name / "view.json").write_text(json.dumps(description), encoding="utf-8")
    (views / "first" / "icon.svg").write_text('<svg><path fill="none" d="M1 2h3"/></svg>', encoding="utf-8")
    (views / "later" / "tile.js").write_text("", encoding="utf-8")
    (views / "undescribed").mkdir()
    (views / "undescribed" / "card.js").write_text("", encoding="utf-8")
    return tmp_path


def test_entries_come_in_the_order_of_the_navigation(web: Path) -> None:
    assert view_entries(Assets(web)) == [
        {
            "name": "first",
            "needs": ["scalar", "lineage"],
            "icon": "M1 2h3",
            "tile": False,
            "navigation": True,
            "rare": False,
        },
        {
            "name": "later",
            "needs": ["dump"],
            "icon": "",
            "tile": True,
            "navigation": False,
            "rare": True,
        },
    ]


def test_a_view_says_which_scripts_it_always_needs(web: Path) -> None:
    scripts = {
        name: preloaded_scripts(Assets(web), name) for name in ("first", "later", "undescribed", "none")
    }
    assert scripts == {"first": ["vendor/plot.js"], "later": [], "undescribed": [], "none": []}
