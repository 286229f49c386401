"""Reader of the plugin that a Summary.Value of TensorFlow names."""

from __future__ import annotations

from typing import Final

from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.wire_format import UnparsableError, last_field

_PATH: Final = (9 << 3 | 2, 1 << 3 | 2, 1 << 3 | 2)  # metadata, plugin_data, plugin_name
_LONGEST: Final = 200  # bytes of a name


def plugin_name(value: bytes) -> str:
    """Name of the plugin; empty where the value names none."""
    at, end = 0, len(value)
    try:
        for key in _PATH:
            span = last_field(value, at, end, key)
            if span is None:
                return ""
            at, end = span
    except UnparsableError:
        return ""
    return show_text(value[at : min(end, at + _LONGEST)])
