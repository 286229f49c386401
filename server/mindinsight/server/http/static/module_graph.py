"""Import graph of the pages' scripts: the modules that a page loads, so that it can ask for all at once."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Final

from mindinsight.server.http.static.assets import Assets

_STATIC_IMPORT: Final = re.compile(
    r"""^(?:import|export|\}) ?[^"'\n;]*?["'](\.{1,2}/[^"'\n]+)["'];""", re.MULTILINE
)


def imported_modules(assets: Assets, entries: Iterable[str]) -> list[str]:
    """Names of the entries and of all that they import, through any number of modules; sorted.

    Modules that are imported when needed, by ``import()``, are left out.
    """
    known: set[str] = set()
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in known or name not in assets:
            continue
        known.add(name)
        folder = posixpath.dirname(name)
        text = assets.plain(name).decode()
        waiting += [posixpath.normpath(f"{folder}/{path}") for path in _STATIC_IMPORT.findall(text)]
    return sorted(known)
