"""Text and JSON files beside a dump, read within a budget; what is cut off keeps what came before the cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.budgets import JSON, TEXT, Budget
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.texts import encodable, parse_integer
from mindinsight.server.formats.unreadable import UnreadableError

MAX_LINE: Final = 1 << 20  # bytes
_LONG_NUMBER: Final = re.compile(r"(?<![.\d])\d{19}")  # digits behind a point are of a float
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_STRUCTURE: Final = ",[{"


def read_text(path: Path, budget: Budget = TEXT) -> str:
    """A text file; bytes that are no UTF-8 come as U+FFFD. Raises ``UnreadableError``."""
    with opened(path) as file:
        length = length_of(file)
        budget.check_size(length)
        return file.read(length).decode("utf-8", "replace")


def read_lines(path: Path, budget: Budget, longest: int = MAX_LINE) -> Iterator[str]:
    """The lines of a text file with their ends, one in memory at a time; raises ``UnreadableError``."""
    with opened(path) as file:
        budget.check_size(length_of(file))
        for number, line in enumerate(iter(lambda: file.readline(longest), b""), 1):
            budget.check_items(number)
            yield line.decode("utf-8", "replace")


def read_json(path: Path, budget: Budget = JSON) -> Any:
    """A JSON file, ``NaN`` and ``Infinity`` allowed. Raises ``UnreadableError``."""
    text = read_text(path, budget)
    try:
        return parse_json(text, budget)
    except (ValueError, RecursionError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError("dump.json", f"{path.name}: {error}"[:300]) from error


def parse_json(text: str, budget: Budget = JSON) -> Any:
    """The value of a JSON text; its integers fit 64 bits and its texts can be encoded.

    Raises ValueError or RecursionError for what is no JSON, ``UnreadableError`` beyond the budget.
    """
    budget.check_items(sum(map(text.count, _STRUCTURE)))
    decode = json.JSONDecoder(parse_int=parse_integer).decode if _LONG_NUMBER.search(text) else json.loads
    value = decode(text)
    return encodable(value) if _SURROGATE.search(text) else value
