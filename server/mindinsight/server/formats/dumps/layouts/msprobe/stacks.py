"""Parser of the call stacks (``stack.json``) and module trees (``construct.json``) beside ``dump.json``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from mindinsight.server.formats.graphs.call_stacks import Frame, line_number

MAX_ANCESTORS: Final = 100
_FRAME: Final = re.compile(r"\s*File (.+?), line (\d+), in (.+?),? ?(?:\n(.*))?", re.DOTALL)


def stacks_of_entries(document: dict[str, Any]) -> dict[str, tuple[Frame, ...]]:
    """Call stacks by entry, innermost frame first.

    ``{"0": [[entries], [frames]]}`` where entries share a stack, or ``{entry: [frames]}`` in older files.
    """
    stacks: dict[str, tuple[Frame, ...]] = {}
    for key, value in document.items():
        if not isinstance(value, list):
            continue
        shared = len(value) == 2 and all(isinstance(part, list) for part in value)
        names, frames = value if shared else ([key], value)
        stack = _frames(frames)
        stacks |= {name: stack for name in names if isinstance(name, str)}
    return stacks


def loop_of(parents: dict[str, Any]) -> str | None:
    """An entry of ``construct.json`` that is its own ancestor; None where the file is a forest."""
    ended: set[str] = set()
    for entry in parents:
        path: dict[str, None] = {}
        current: Any = entry
        while isinstance(current, str) and current not in ended:
            if current in path:
                return current
            path[current] = None
            current = parents.get(current)
        ended |= path.keys()
    return None


def ancestors(parents: dict[str, Any], entry: str) -> tuple[str, ...]:
    """Modules that an entry ran in, outermost first; a loop in ``construct.json`` is cut."""
    chain: dict[str, None] = {}
    parent = parents.get(entry)
    while isinstance(parent, str) and parent not in chain and len(chain) < MAX_ANCESTORS:
        chain[parent] = None
        parent = parents.get(parent)
    return tuple(reversed(chain))


def _frames(texts: Iterable[Any]) -> tuple[Frame, ...]:
    matches = (_FRAME.fullmatch(text) for text in texts if isinstance(text, str))
    return tuple(
        Frame(match[1], line_number(match[2]), 0, match[3], (match[4] or "").strip())
        for match in matches
        if match
    )
