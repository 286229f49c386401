"""Names of TensorBoard's other plugins, and the parser of ``projector_config.pbtxt``."""

import re
from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.wire_format import UnparsableError, last_field

FILE_NAME: Final = "projector_config.pbtxt"
_BLOCK: Final = re.compile(r"embeddings\s*:?\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_ENTRY: Final = re.compile(r'(tensor_name|tensor_path)\s*:\s*"((?:[^"\\\n]|\\.)*)"')
_MAX_EMBEDDINGS: Final = 1000  # embeddings


@dataclass(frozen=True, slots=True)
class Embedding:
    """Embedding in TensorBoard's projector: its name and table. PyTorch names it ``tag:step``."""

    name: str
    path: str  # of its table, relative to the file; empty for a tensor in a checkpoint

    @property
    def tag(self) -> str:
        """Return the name without its step."""
        return self.name if self.step is None else self.name.rpartition(":")[0]

    @property
    def step(self) -> int | None:
        """Return the step in the name, or None if it has none."""
        digits = self.name.rpartition(":")[2]
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def embeddings(text: str) -> list[Embedding]:
    """Parse the embeddings in the text of ``projector_config.pbtxt``. Unreadable entries are skipped."""
    blocks = (dict(_ENTRY.findall(match[1])) for match in _BLOCK.finditer(text))
    rows = [Embedding(block.get("tensor_name", ""), block.get("tensor_path", "")) for block in blocks]
    return rows[:_MAX_EMBEDDINGS]


_PATH: Final = (9 << 3 | 2, 1 << 3 | 2, 1 << 3 | 2)  # metadata, plugin_data, plugin_name
_MAX_NAME: Final = 200  # bytes of a name


def plugin_name(value: bytes) -> str:
    """Return the plugin name in a Summary.Value, empty if there is none."""
    at, end = 0, len(value)
    try:
        for key in _PATH:
            span = last_field(value, at, end, key)
            if span is None:
                return ""
            at, end = span
    except UnparsableError:
        return ""
    return show_text(value[at : min(end, at + _MAX_NAME)])
