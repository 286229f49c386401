"""Filter of entries by ``scope`` and ``list``, as msprobe applies them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MODULES: Final = ("Module.", "Cell.")


class Selection:
    """Filter of entries by name, fed with names in the order of execution.

    ``scope`` is the first and the last entry to record: for modules, from the beginning of the first to the
    end of the last. ``names`` are parts of names, one of which an entry has to have; with level mix an entry
    that lies in such a module is recorded, too.
    """

    def __init__(self, scope: Sequence[str] = (), names: Sequence[str] = (), level: str = "L1") -> None:
        self._scope = tuple(scope)
        self._names = tuple(names)
        self._nested = level == "mix"
        self._in_scope = False
        self._open: set[str] = set()  # modules that ``names`` fit and that have not ended

    def begin(self, module: str) -> None:
        """Note that a module begins, forward or backward."""
        if self._scope and module == self._scope[0]:
            self._in_scope = True
        if self._nested and any(name in module for name in self._names):
            self._open.add(module)

    def end(self, module: str) -> None:
        """Note that a module has ended."""
        if self._scope and module == self._scope[1]:
            self._in_scope = False
        self._open.discard(module)

    def __call__(self, entry: str) -> bool:
        """Whether an entry is recorded. Of a call, the first question is the one that opens the scope."""
        is_call = not entry.startswith(_MODULES)
        if is_call and self._scope and entry == self._scope[0]:
            self._in_scope = True
        selected = (not self._scope or self._in_scope) and self._fits(entry)
        if is_call and self._scope and entry == self._scope[1]:
            self._in_scope = False
        return selected

    def _fits(self, entry: str) -> bool:
        return not self._names or bool(self._open) or any(name in entry for name in self._names)
