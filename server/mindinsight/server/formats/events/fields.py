"""Keys of the fields of Event and Summary.Value (number and wire type, as in the bytes), codes of kinds."""

from __future__ import annotations

from typing import Final

from mindinsight.server.types import Kind

EVENT_WALL: Final = 1 << 3 | 1
EVENT_STEP: Final = 2 << 3
EVENT_VERSION: Final = 3 << 3 | 2
EVENT_GRAPH: Final = 4 << 3 | 2
EVENT_SUMMARY: Final = 5 << 3 | 2
EVENT_EXPLAIN: Final = 6 << 3 | 2
EVENT_ALERT: Final = 1001 << 3 | 2
SUMMARY_VALUE: Final = 1 << 3 | 2
VALUE_TAG: Final = 1 << 3 | 2
VALUE_SCALAR: Final = 3 << 3 | 5
VALUE_EXACT: Final = 1001 << 3 | 1

# Codes of kinds in arrays; an exact scalar is a scalar whose float64 was recorded too.
SCALAR, EXACT, IMAGE, TENSOR, HISTOGRAM, LANDSCAPE, GRAPH, ALERT = range(1, 9)
KIND_NAMES: Final[dict[int, Kind]] = {
    IMAGE: "image",
    TENSOR: "tensor",
    HISTOGRAM: "histogram",
    LANDSCAPE: "landscape",
    GRAPH: "graph",
    ALERT: "alert",
}
VALUE_KINDS: Final = {
    VALUE_SCALAR: SCALAR,
    4 << 3 | 2: IMAGE,
    8 << 3 | 2: TENSOR,
    9 << 3 | 2: HISTOGRAM,
    10 << 3 | 2: LANDSCAPE,
}


def tag_text(tag: bytes) -> str:
    r"""A tag as text; bytes that are not UTF-8 appear as ``\xff``, which every encoder and page can show."""
    return tag.decode("utf-8", "backslashreplace")
