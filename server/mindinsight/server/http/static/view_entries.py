"""Catalogue of the views: what the pages know of each before it is opened, from the web package alone.

The page of a kind is described beside its scripts, in ``static/js/views/<name>/view.json``: its place
in the navigation (``order``), what a run must hold for the page to have something to show (``needs``: kinds,
"lineage", "dump"), whether the navigation leads to it (``navigation``, true unless it says otherwise),
whether link and tile are there only where a run has such data (``rare``), and the ``scripts`` that it
always needs, such as the smallest build of Plotly.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from mindinsight.server.http.static.assets import Assets

_ICON_PATH: Final = re.compile(r'\bd="([^"]*)"')
_ALONE: Final = re.compile(rb"^export const alone = true;", re.MULTILINE)
_VIEWS: Final = "js/views/"
_DESCRIPTION: Final = "/view.json"


def view_entries(assets: Assets) -> list[dict[str, Any]]:
    """One ``ViewEntry`` of ``core/types.js`` per described view, in the order of the navigation."""
    names = [name[len(_VIEWS) : -len(_DESCRIPTION)] for name in assets.names(_VIEWS, _DESCRIPTION)]
    described = [(json.loads(assets.plain(f"{_VIEWS}{name}{_DESCRIPTION}")), name) for name in names]
    described.sort(key=lambda pair: (pair[0]["order"], pair[1]))
    return [_entry(assets, name, description) for description, name in described]


def preloaded_scripts(assets: Assets, view: str) -> list[str]:
    """Names of the scripts, not modules, that the view always needs (``scripts`` in its description)."""
    name = f"{_VIEWS}{view}{_DESCRIPTION}"
    scripts: list[str] = json.loads(assets.plain(name)).get("scripts", []) if name in assets else []
    return scripts


def stands_alone(assets: Assets, view: str) -> bool:
    """Whether a view is shown without the panel of runs, as its script says: what is drawn before the script
    runs leaves the room for the panel."""
    return bool(_ALONE.search(assets.plain(f"{_VIEWS}{view}.js")))


def _entry(assets: Assets, name: str, description: dict[str, Any]) -> dict[str, Any]:
    folder = f"{_VIEWS}{name}/"
    icon = f"{folder}icon.svg"
    path = _ICON_PATH.search(assets.plain(icon).decode()) if icon in assets else None
    return {
        "name": name,
        "needs": description["needs"],
        "icon": path[1] if path else "",
        "tile": f"{folder}tile.js" in assets,
        "navigation": description.get("navigation", True),
        "rare": description.get("rare", False),
    }
