"""Saved views of pages, and the default settings with which pages open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindinsight.server.workspace.json_store import Full, JsonStore, Taken

MAX_NAME = 100  # characters
MAX_QUERY = 16_000  # characters: a choice among 999 runs
MAX_VIEWS = 200
VIEW = r"^[a-z]{1,30}$"
QUERY = r"^[^\s#]*$"


@dataclass(frozen=True, slots=True)
class View:
    """Saved view: a page and its query."""

    view: str  # "scalar"
    query: str  # "runs=a,b&q=loss", without "?"


class Views:
    """The saved views of one base directory by name, in ``<folder>/views.json``."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._store = JsonStore(folder / "views.json", base, _view)

    def all(self) -> Mapping[str, View]:
        """By name, in the order in which they were saved."""
        return self._store.values()

    def keep(self, name: str, view: View) -> None:
        """Keep a view, in the place of one that had this name; ``Full`` when there is no room for more."""

        def with_it(views: dict[str, View]) -> dict[str, View]:
            if name not in views and len(views) >= MAX_VIEWS:
                raise Full
            return {**views, name: view}

        self._store.change(with_it)

    def rename(self, name: str, to: str) -> None:
        """KeyError when there is none of this name, ``Taken`` when there is another of the new one."""

        def renamed(views: dict[str, View]) -> dict[str, View]:
            if name not in views:
                raise KeyError(name)
            if to != name and to in views:
                raise Taken
            return {to if key == name else key: view for key, view in views.items()}

        self._store.change(renamed)

    def forget(self, name: str) -> None:
        """KeyError when there is none of this name."""

        def without(views: dict[str, View]) -> dict[str, View]:
            del views[name]
            return views

        self._store.change(without)


def _view(fields: dict[str, Any]) -> View | None:
    """A view from what the file says: somebody may have written to it."""
    view, query = (str(fields.get(key, "")) for key in ("view", "query"))
    ours = re.fullmatch(VIEW, view) and re.fullmatch(QUERY, query) and len(query) <= MAX_QUERY
    return View(view, query) if ours else None


MAX_DEFAULT = 2000  # characters
ALL_PAGES = "all"  # in the place of a page: how numbers are written, and how often pages refresh


@dataclass(frozen=True, slots=True)
class Default:
    """Settings of a page, as its address has them."""

    query: str  # "s=0.9&x=wall", without "?"


class Defaults:
    """The default settings of one base directory by page, in ``<folder>/defaults.json``."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._store = JsonStore(folder / "defaults.json", base, _default)

    @property
    def version(self) -> int:
        """Another number after every change, by whichever server."""
        return self._store.version

    def all(self) -> Mapping[str, Default]:
        """By page."""
        return self._store.values()

    def keep(self, view: str, query: str) -> None:
        """Keep the settings of a page, in the place of those before; an empty query forgets them."""
        default = {view: Default(query)} if query else {}
        self._store.change(
            lambda defaults: {**{name: d for name, d in defaults.items() if name != view}, **default}
        )


def _default(fields: dict[str, Any]) -> Default | None:
    """A default from what the file says: somebody may have written to it."""
    query = str(fields.get("query", ""))
    return Default(query) if re.fullmatch(QUERY, query) and 0 < len(query) <= MAX_DEFAULT else None
