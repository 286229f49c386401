"""Filter of operators by the ``kernels`` of a dump configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_REGEX: Final = re.compile(r"name-regex\((.*)\)", re.DOTALL)


class KernelFilter:
    """Predicate of operator names, by MindSpore's rules.

    An entry is ``name-regex(RE)``, which fits a whole full name; a full name, told by ``/`` or ``-op``; or an
    operator type, which is looked for in the last part of a name, capitals or not. No entries select all.
    Raises ValueError for a regular expression that is none.
    """

    def __init__(self, kernels: Iterable[str]) -> None:
        entries = [re.sub(r"[ \"]", "", kernel) for kernel in kernels]
        self._unmatched = dict.fromkeys(filter(None, entries))
        self._expressions = {entry: _compiled(entry) for entry in self._unmatched if _REGEX.fullmatch(entry)}
        self._all = not self._unmatched
        self._entries = tuple(self._unmatched)
        self._answers: dict[str, bool] = {}

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Entries that fitted no operator so far."""
        return tuple(self._unmatched)

    def __call__(self, name: str) -> bool:
        if self._all:
            return True
        if name not in self._answers:
            hits = [entry for entry in self._entries if self._fits(entry, name)]
            for entry in hits:
                self._unmatched.pop(entry, None)
            self._answers[name] = bool(hits)
        return self._answers[name]

    def _fits(self, entry: str, name: str) -> bool:
        expression = self._expressions.get(entry)
        if expression is not None:
            return expression.fullmatch(name) is not None
        if "/" in entry or "-op" in entry:
            return entry == name
        last = name.rpartition("/")[2]
        return entry.lower() in (last.rpartition("-")[0] or last).lower()


def _compiled(entry: str) -> re.Pattern[str]:
    match = _REGEX.fullmatch(entry)
    text = match[1] if match else entry
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"kernels holds {entry!r}, which is no regular expression: {error}") from error
