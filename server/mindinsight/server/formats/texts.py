"""Small text and JSON files beside a dump, read within a limit and forgiven their end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.unreadable import UnreadableError

MAX_TEXT: Final = 64 << 20  # bytes


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """A text file; bytes that are no UTF-8 come as U+FFFD. Raises ``UnreadableError``."""
    with opened(path) as file:
        length = length_of(file)
        if length > limit:
            raise UnreadableError("dump.too_large", f"text of {length} bytes")
        return file.read(limit).decode("utf-8", "replace")


def read_json(path: Path, limit: int = MAX_TEXT) -> Any:
    """A JSON file, ``NaN`` and ``Infinity`` allowed. Raises ``UnreadableError``."""
    try:
        return json.loads(read_text(path, limit))
    except (ValueError, RecursionError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError("dump.json", f"{path.name}: {error}"[:300]) from error
