"""Budgets of the readers, and the error they raise for a file that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class UnreadableError(ValueError):
    """Something in a file cannot be read; what lies around it can.

    ``reason`` is a key of the locale files (``dump.truncated``, ``dump.too_large``, ...),
    ``detail`` says in English which part and with which figures.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str]]:
        """Travel through a process pool with both parts."""
        return (type(self), (self.reason, self.detail))


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
