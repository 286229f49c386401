"""Limits of the readers, and the error raised for a file that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final


class UnreadableError(ValueError):
    """Error of a part of a file that cannot be read. The rest of the file can.

    ``reason`` is a key of the locale files (``dump.truncated``, ``dump.too_large``, ...). ``detail`` states
    the part and the figures in English.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str]]:
        """Return both parts for pickling."""
        return (type(self), (self.reason, self.detail))


@contextmanager
def unreadable(reason: str, content: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn ``errors`` raised inside into UnreadableError with ``reason``. UnreadableError itself passes."""
    try:
        yield
    except UnreadableError:
        raise
    except errors as error:
        raise UnreadableError(reason, f"{content}: {error}"[:300]) from error


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one reader for size in bytes, number of items and depth of nesting. 0 is no limit."""

    content: str  # what is counted, in English
    size: int  # bytes
    items: int = 0
    depth: int = 0

    def check_size(self, size: int) -> None:
        """Raise UnreadableError if ``size`` exceeds the limit. Nothing is deducted."""
        if size > self.size:
            raise UnreadableError("dump.too_large", f"{self.content} of {size} bytes, limit {self.size}")

    def check_items(self, count: int) -> None:
        """Raise UnreadableError if ``count`` exceeds the limit. Nothing is deducted."""
        if count > self.items:
            raise UnreadableError(
                "dump.too_large", f"{self.content} with over {count - 1} items, limit {self.items}"
            )


ARRAY: Final = Limits("array that is read whole", 1 << 30)
ARCHIVE: Final = Limits("archive", 1 << 62, items=200_000)  # members; each is an array or a pickle
TEXT: Final = Limits("text", 64 << 20)
JSON: Final = Limits("JSON", 128 << 20, items=5_000_000)  # values
STATISTICS: Final = Limits("statistic.csv", 256 << 20, items=500_000)  # rows
MAPPING: Final = Limits("mapping.csv", 64 << 20, items=500_000)  # rows
ORDER: Final = Limits("execution order", 64 << 20, items=1_000_000)  # lines
IR: Final = Limits("ir text", 256 << 20, items=4_000_000, depth=1000)  # lines; sources of one operator
GRAPH: Final = Limits("graph", 512 << 20, items=2_000_000, depth=100)  # nodes, parameters, constants; scopes
GRAPH_FIELD: Final = Limits("part of a graph", 16 << 20)  # one node, parameter or constant
OPERATOR: Final = Limits("dumped operator", 64 << 20, items=10_000)  # message; inputs and outputs
PICKLE: Final = Limits("pickle", 64 << 20, items=5_000_000, depth=100)  # instructions; nested containers
EVENT: Final = Limits("event", 8 << 20, items=2_000_000)  # bytes other than payloads; bytes read one by one
CHECKPOINT: Final = Limits("checkpoint", 1 << 62, items=8_000_000)  # bytes of keys and lengths, 30 a tensor
SAFETENSORS: Final = Limits("safetensors header", 64 << 20, items=2_000_000)  # values of the header
