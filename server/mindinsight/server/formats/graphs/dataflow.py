"""Data flow of a compiled graph: the operators and parameters that feed an operator.

Nodes that only pass values on are skipped: compiled graphs are full of ``Load``, ``Depend`` and tuples, which
never run and are never dumped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from mindinsight.server.formats.budgets import IR

MAX_DIGITS: Final = 9  # of the index of an element
PASSING: Final = frozenset(("Load", "Depend", "UpdateState", "MakeTuple", "TupleGetItem"))


@dataclass(slots=True)
class Dataflow:
    """Sources by the key that arguments use, filled in the order of the graph."""

    sources_of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, key: str, op: str, name: str, arguments: list[str]) -> tuple[str, ...]:
        """Add an operator under the key that arguments use for it; returns the names that feed it.

        ``arguments`` are keys; the last of ``TupleGetItem`` is the index as text. At most ``IR.depth`` names.
        """
        sources = self._sources(op, arguments)
        self.sources_of[key] = sources if op in PASSING else (name,) if name else ()
        return tuple(islice(dict.fromkeys(source for source in sources if source), IR.depth))

    def _sources(self, op: str, arguments: list[str]) -> tuple[str, ...]:
        feeding = [self.sources_of.get(argument, ()) for argument in arguments]
        if op == "UpdateState":
            return ()
        if op == "TupleGetItem" and len(arguments) == 2:
            index = int(arguments[1]) if arguments[1].isdecimal() and len(arguments[1]) < MAX_DIGITS else 0
            return feeding[0][index : index + 1] or feeding[0]
        if op == "MakeTuple":  # one name for each element, so that TupleGetItem can index them
            return tuple(names[0] if names else "" for names in feeding)
        if op in ("Load", "Depend"):
            return feeding[0] if feeding else ()
        return tuple(islice((name for names in feeding for name in names), IR.depth))
