"""Unique paths of the operators of a graph.

Rules of MindInsight 2.3.1: ``full_name`` when there is one, else scope, type and number; the second form
also for summary operators, whose full names end in ``[:image]`` and the like; an operator that is called
like a scope is shown in parentheses. Beyond that: empty parts of a path are left out, and a name that is
taken gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

MAX_PATH: Final = 4096  # characters
MAX_DEPTH: Final = 100  # parts
_SUMMARY = re.compile(r"\[:\w+\]$")
_EMPTY_PARTS = re.compile(r"^/+|/+$|(?<=/)/+")


def operator_path(full_name: str, scope: str, op_type: str, number: str) -> str:
    """Path of an operator from its recorded names; not yet unique."""
    if not full_name or (full_name[-1] == "]" and _SUMMARY.search(full_name)):
        full_name = f"{scope}/{op_type or 'call'}-op{number}"
    if "//" in full_name or full_name[0] == "/" or full_name[-1] == "/":
        full_name = _EMPTY_PARTS.sub("", full_name)
    return shorten_path(full_name)


def shorten_path(path: str) -> str:
    """Shorten a path to MAX_PATH characters and MAX_DEPTH parts; the deeper parts are joined into one.

    Every scope around an operator has its own path: those of 200 000 nested scopes would take gigabytes.
    """
    if len(path) > MAX_PATH:
        path = f"{path[: MAX_PATH // 2]}…{path[-MAX_PATH // 2 :]}"
    if path.count("/") >= MAX_DEPTH:
        *outer, inner = path.split("/", MAX_DEPTH - 1)
        path = "/".join([*outer, inner.replace("/", "\N{DIVISION SLASH}")])
    return path


def scopes_of(paths: Iterable[str]) -> dict[str, None]:
    """All scopes that enclose any of the paths, each after its parent, in order of first use."""
    scopes: dict[str, None] = {}
    for innermost in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        scope, opened = innermost, []
        while scope and scope not in scopes:
            opened.append(scope)
            scope = scope.rpartition("/")[0]
        scopes.update(dict.fromkeys(reversed(opened)))
    return scopes


def unique_paths(paths: Sequence[str]) -> list[str]:
    """Make paths unique: a path that is also a scope gets parentheses, a repeated one a number."""
    scopes = scopes_of(paths)
    if not (any(path in scopes for path in paths) or len(set(paths)) < len(paths)):
        return list(paths)
    taken: set[str] = set(scopes)
    unique = []
    numbers: dict[str, int] = {}  # the next number of each repeated path
    for path in paths:
        name = path
        if name in scopes:
            before, slash, last = path.rpartition("/")
            name = f"{before}{slash}({last})"
        if name in taken:
            again = numbers.get(path, 2)
            while (name := f"{path}#{again}") in taken:
                again += 1
            numbers[path] = again + 1
        taken.add(name)
        unique.append(name)
    return unique
