"""Text and JSON files beside a dump, read within a budget; truncated JSON yields its complete members."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.read_limits import JSON, TEXT, Budget, UnreadableError
from mindinsight.server.formats.sanitizer import encodable, parse_integer

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


_GAP: Final = re.compile(r"[\s,:]*")
_DECODER: Final = json.JSONDecoder(parse_int=parse_integer)


def read_object(path: Path, inner: str = "") -> tuple[dict[str, Any], UnreadableError | None]:
    """The object in a file, and what is wrong with it; ``NaN`` and ``Infinity`` are allowed.

    Of a file that is cut off, the members before the cut come back; those of member ``inner`` one by
    one, the others when they are plain texts. Raises ``UnreadableError`` when the file cannot be read.
    """
    text = read_text(path, JSON)
    try:
        document = parse_json(text)
    except UnreadableError:
        raise
    except (ValueError, RecursionError) as error:
        trouble = UnreadableError("dump.json_cut", f"{path.name}: {error}"[:300])
        return encodable(_recovered(text, inner)), trouble
    if isinstance(document, dict):
        return document, None
    return {}, UnreadableError("dump.json", f"{path.name} is no object")


def _recovered(text: str, inner: str) -> dict[str, Any]:
    if not inner:
        return _members(text, text.find("{") + 1)
    start = re.search(rf'"{re.escape(inner)}"\s*:\s*\{{', text)
    head = text[: start.start()] if start else text
    plain: dict[str, Any] = dict(re.findall(r'"(\w+)"\s*:\s*"([^"\\]*)"', head[:10_000]))
    return plain | {inner: _members(text, start.end()) if start else {}}


def _members(text: str, at: int) -> dict[str, Any]:
    """Members of an object from inside its brace on, up to its end or to what is no longer JSON."""
    members: dict[str, Any] = {}
    try:
        while True:
            key, at = _DECODER.raw_decode(text, _past_gap(text, at))
            value, at = _DECODER.raw_decode(text, _past_gap(text, at))
            if not isinstance(key, str):
                return members
            members[key] = value
    except (ValueError, RecursionError):
        return members


def _past_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at
