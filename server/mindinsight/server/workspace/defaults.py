"""Default settings of pages: the query that a page opens with where its address has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindinsight.server.workspace.json_store import JsonStore
from mindinsight.server.workspace.views import QUERY

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
