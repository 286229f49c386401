"""Parser of ``projector_config.pbtxt``: the embeddings that TensorBoard's projector would show.

Text format of ProjectorConfig: blocks ``embeddings { tensor_name: "…" tensor_path: "…" }``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

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
