"""Saved views of pages, and the default settings with which pages open."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindinsight.server.workspace.json_store import JsonStore, Taken

MAX_NAME = 100  # characters
MAX_QUERY = 16_000  # characters, for a selection among 999 runs
MAX_VIEWS = 200  # all are in one file, which each change writes again
VIEW = r"^[a-z]{1,30}$"
QUERY = r"^[^\s#]*$"


@dataclass(frozen=True, slots=True)
class View:
    """Saved view: a page and its query."""

    view: str  # "scalar"
    query: str  # "runs=a,b&q=loss", without "?"


class Views(JsonStore[View]):
    """Saved views of one base directory by name, in `<folder>/views.json`."""

    def __init__(self, folder: Path, base: Path) -> None:
        super().__init__(folder / "views.json", base, _view)

    def keep(self, name: str, view: View) -> None:
        """Store a view, replacing one of this name. Raises Full if the name is new and there
        are MAX_VIEWS."""
        self.put(name, view, MAX_VIEWS)

    def rename(self, name: str, to: str) -> None:
        """Rename a view. Raises KeyError if the name is unknown, Taken if another view has the new name."""

        def renamed(views: dict[str, View]) -> dict[str, View]:
            if name not in views:
                raise KeyError(name)
            if to != name and to in views:
                raise Taken
            return {to if key == name else key: view for key, view in views.items()}

        self.update(renamed)


def _view(fields: dict[str, Any]) -> View | None:
    """Parse a view, or return None if it is invalid, because users may edit the file."""
    view, query = (str(fields.get(key, "")) for key in ("view", "query"))
    ours = re.fullmatch(VIEW, view) and re.fullmatch(QUERY, query) and len(query) <= MAX_QUERY
    return View(view, query) if ours else None


MAX_DEFAULT = 2000  # characters
ALL_PAGES = "all"  # name in place of a page, for the format of numbers and the refresh interval


@dataclass(frozen=True, slots=True)
class Default:
    """Settings of a page, as the query of its address."""

    query: str  # "s=0.9&x=wall", without "?"


class Defaults(JsonStore[Default]):
    """Default settings of one base directory by page, in `<folder>/defaults.json`."""

    def __init__(self, folder: Path, base: Path) -> None:
        super().__init__(folder / "defaults.json", base, _default)

    def keep(self, view: str, query: str) -> None:
        """Store the settings of a page, replacing earlier ones. An empty query removes them."""

        def changed(defaults: dict[str, Default]) -> dict[str, Default]:
            others = {name: default for name, default in defaults.items() if name != view}
            return {**others, view: Default(query)} if query else others

        self.update(changed)


def _default(fields: dict[str, Any]) -> Default | None:
    """Parse a default, or return None if it is invalid, because users may edit the file."""
    query = str(fields.get("query", ""))
    return Default(query) if re.fullmatch(QUERY, query) and 0 < len(query) <= MAX_DEFAULT else None
