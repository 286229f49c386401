"""Names of TensorBoard's other plugins, and the parser of ``projector_config.pbtxt``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.wire_format import UnparsableError, last_field

FILE_NAME: Final = "projector_config.pbtxt"
_BLOCK: Final = re.compile(r"embeddings\s*:?\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_ENTRY: Final = re.compile(r'(tensor_name|tensor_path)\s*:\s*"((?:[^"\\\n]|\\.)*)"')
_MOST: Final = 1000  # embeddings


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedding; torch names it ``tag:step``."""

    name: str
    path: str  # of its table, relative to the file; empty for a tensor in a checkpoint

    @property
    def tag(self) -> str:
        return self.name.rpartition(":")[0] or self.name

    @property
    def step(self) -> int | None:
        digits = self.name.rpartition(":")[2]
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def embeddings(text: str) -> list[Embedding]:
    """Embeddings in the text of the file; what cannot be read is left out."""
    blocks = (dict(_ENTRY.findall(match[1])) for match in _BLOCK.finditer(text))
    rows = [Embedding(block.get("tensor_name", ""), block.get("tensor_path", "")) for block in blocks]
    return rows[:_MOST]


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
