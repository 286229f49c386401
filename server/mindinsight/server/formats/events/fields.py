"""Keys of the fields of Event and Summary.Value (number and wire type, as in the bytes), codes of kinds."""

from __future__ import annotations

from typing import Final

from mindinsight.proto.kinds import EXACT_SCALAR, KINDS

EVENT_WALL: Final = 1 << 3 | 1
EVENT_STEP: Final = 2 << 3
EVENT_VERSION: Final = 3 << 3 | 2
EVENT_SUMMARY: Final = 5 << 3 | 2
EVENT_EXPLAIN: Final = 6 << 3 | 2
EVENT_CLOSING: Final = 1002 << 3 | 2
CLOSING_ERROR: Final = 1 << 3 | 2
SUMMARY_VALUE: Final = 1 << 3 | 2
VALUE_TAG: Final = 1 << 3 | 2
VALUE_SCALAR: Final = 3 << 3 | 5
VALUE_EXACT: Final = EXACT_SCALAR << 3 | 1

# Codes of kinds in arrays; an exact scalar is a scalar whose float64 was recorded too.
SCALAR, EXACT = 1, 2
CODES: Final = {
    kind.name: EXACT + position
    for position, kind in enumerate((kind for kind in KINDS if kind.storage == "payload"), 1)
}
KIND_NAMES: Final = {code: name for name, code in CODES.items()}
EVENT_KINDS: Final = {kind.key: CODES[kind.name] for kind in KINDS if kind.message == "Event"}
VALUE_KINDS: Final = {
    VALUE_SCALAR: SCALAR,
    **{
        kind.key: CODES[kind.name]
        for kind in KINDS
        if kind.number and kind.name in CODES and kind.message == "Summary.Value"
    },
}


def tag_text(tag: bytes) -> str:
    r"""A tag as text; bytes that are not UTF-8 appear as ``\xff``, which every encoder and page can show."""
    return tag.decode("utf-8", "backslashreplace")
