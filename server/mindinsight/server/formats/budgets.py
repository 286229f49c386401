"""Budgets of the readers: what each takes of one file at most, held before memory is asked for.

A file states sizes and counts itself, and a sparse file has any size for nothing. Each reader therefore has
a budget of bytes, items and depth; what goes beyond is refused with ``dump.too_large`` and the figures. The
peak of a reader is below 1 GiB for all but arrays, whose peak is twice ``ARRAY.size``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.unreadable import UnreadableError


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one reader; 0 where a limit does not apply."""

    content: str  # what is counted, in English
    size: int  # bytes
    items: int = 0
    depth: int = 0

    def check_size(self, size: int) -> None:
        """Raise ``UnreadableError`` for more bytes than the budget has."""
        if size > self.size:
            raise UnreadableError("dump.too_large", f"{self.content} of {size} bytes, limit {self.size}")

    def check_items(self, count: int) -> None:
        """Raise ``UnreadableError`` for more items than the budget has."""
        if count > self.items:
            raise UnreadableError(
                "dump.too_large", f"{self.content} with over {count - 1} items, limit {self.items}"
            )


ARRAY: Final = Budget("array that is read whole", 1 << 30)
ARCHIVE: Final = Budget("archive", 1 << 62, items=200_000)  # members; each is an array or a pickle
TEXT: Final = Budget("text", 64 << 20)
JSON: Final = Budget("JSON", 128 << 20, items=5_000_000)  # values
STATISTICS: Final = Budget("statistic.csv", 256 << 20, items=500_000)  # rows
MAPPING: Final = Budget("mapping.csv", 64 << 20, items=500_000)  # rows
ORDER: Final = Budget("execution order", 64 << 20, items=1_000_000)  # lines
IR: Final = Budget("ir text", 256 << 20, items=4_000_000, depth=1000)  # lines; sources of one operator
GRAPH: Final = Budget("graph", 512 << 20, items=2_000_000, depth=100)  # nodes, parameters, constants; scopes
GRAPH_FIELD: Final = Budget("part of a graph", 16 << 20)  # one node, parameter or constant
OPERATOR: Final = Budget("dumped operator", 64 << 20, items=10_000)  # message; inputs and outputs
PICKLE: Final = Budget("pickle", 64 << 20, items=5_000_000, depth=100)  # instructions; nested containers
EVENT: Final = Budget("event", 8 << 20, items=2_000_000)  # bytes beside payloads; bytes looked at singly
CHECKPOINT: Final = Budget("checkpoint", 1 << 62, items=2_000_000)  # fields; values stay where they lie
SAFETENSORS: Final = Budget("safetensors header", 64 << 20, items=2_000_000)  # values of the header
BUDGETS: Final = (
    *(ARRAY, ARCHIVE, TEXT, JSON, STATISTICS, MAPPING, ORDER, IR, GRAPH, GRAPH_FIELD, OPERATOR, PICKLE),
    *(EVENT, CHECKPOINT, SAFETENSORS),
)
