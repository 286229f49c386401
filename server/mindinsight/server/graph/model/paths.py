"""Unique paths for the operators of a graph, whatever the file calls them.

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
    """The path the file gives an operator; not yet unique."""
    if not full_name or (full_name[-1] == "]" and _SUMMARY.search(full_name)):
        full_name = f"{scope}/{op_type or 'call'}-op{number}"
    if "//" in full_name or full_name[0] == "/" or full_name[-1] == "/":
        full_name = _EMPTY_PARTS.sub("", full_name)
    return shorten_path(full_name)


def shorten_path(path: str) -> str:
    """A path of at most MAX_PATH characters and MAX_DEPTH parts; what is deeper is one part of its own.

    Each scope around an operator has a path: of 200 000 scopes in one another these would take gigabytes.
    """
    if len(path) > MAX_PATH:
        path = f"{path[: MAX_PATH // 2]}…{path[-MAX_PATH // 2 :]}"
    if path.count("/") >= MAX_DEPTH:
        *outer, inner = path.split("/", MAX_DEPTH - 1)
        path = "/".join([*outer, inner.replace("/", "\N{DIVISION SLASH}")])
    return path


def scopes_of(paths: Iterable[str]) -> dict[str, None]:
    """Every scope that encloses one of the paths, in the order in which they open."""
    scopes: dict[str, None] = {}
    for innermost in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        scope, opened = innermost, []
        while scope and scope not in scopes:
            opened.append(scope)
            scope = scope.rpartition("/")[0]
        scopes.update(dict.fromkeys(reversed(opened)))
    return scopes


def unique_paths(paths: Sequence[str]) -> list[str]:
    """The paths with those that are scopes or were taken before changed."""
    scopes = scopes_of(paths)
    if not (any(path in scopes for path in paths) or len(set(paths)) < len(paths)):
        return list(paths)
    taken: set[str] = set(scopes)
    unique = []
    numbers: dict[str, int] = {}  # the next for each path that was taken
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
