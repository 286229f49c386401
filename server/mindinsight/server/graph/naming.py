"""Unique paths for the operators of a graph, whatever the file calls them.

Rules of MindInsight 2.3.1: ``full_name`` when there is one, else scope, type and number; the second form
also for summary operators, whose full names end in ``[:image]`` and the like; an operator that is called
like a scope is shown in parentheses. Beyond that: empty parts of a path are left out, and a name that is
taken gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SUMMARY = re.compile(r"\[:\w+\]$")
_EMPTY_PARTS = re.compile(r"^/+|/+$|(?<=/)/+")


def operator_path(full_name: str, scope: str, op_type: str, number: str) -> str:
    """The path the file gives an operator; not yet unique."""
    if not full_name or (full_name[-1] == "]" and _SUMMARY.search(full_name)):
        full_name = f"{scope}/{op_type or 'call'}-op{number}"
    if "//" in full_name or full_name[0] == "/" or full_name[-1] == "/":
        full_name = _EMPTY_PARTS.sub("", full_name)
    return full_name


def scopes_of(paths: Iterable[str]) -> dict[str, None]:
    """Every scope that encloses one of the paths, in the order in which they open."""
    found: dict[str, None] = {}
    for innermost in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        scope, opened = innermost, []
        while scope and scope not in found:
            opened.append(scope)
            scope = scope.rpartition("/")[0]
        found.update(dict.fromkeys(reversed(opened)))
    return found


def unique_paths(paths: Sequence[str]) -> list[str]:
    """The paths with those that are scopes or were taken before changed."""
    scopes = scopes_of(paths)
    if not (any(path in scopes for path in paths) or len(set(paths)) < len(paths)):
        return list(paths)
    taken: set[str] = set(scopes)
    unique = []
    for path in paths:
        name = path
        if name in scopes:
            before, slash, last = path.rpartition("/")
            name = f"{before}{slash}({last})"
        again = 2
        while name in taken:
            name, again = f"{path}#{again}", again + 1
        taken.add(name)
        unique.append(name)
    return unique
