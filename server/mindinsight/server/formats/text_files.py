"""Text and JSON files next to a dump, read within limits. Truncated JSON yields its complete members."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.file_bytes import MAX_LINE, length_of, opened
from mindinsight.server.formats.read_limits import JSON, TEXT, Limits, UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import encodable, parse_integer

_LONG_NUMBER: Final = re.compile(r"(?<![.\d])\d{19}")  # digits after a point belong to a float
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_STRUCTURE: Final = ",[{"


def read_text(path: Path, limits: Limits = TEXT) -> str:
    """Read a text file. Bytes that are not UTF-8 become U+FFFD. Raises UnreadableError."""
    with opened(path) as file:
        length = length_of(file)
        limits.check_size(length)
        return file.read(length).decode("utf-8", "replace")


def read_lines(path: Path, limits: Limits, longest: int = MAX_LINE) -> Iterator[str]:
    """Yield the lines of a text file with their line ends. Raises UnreadableError. One line is in memory
    at a time. A line of more than ``longest`` bytes is yielded in parts."""
    with opened(path) as file:
        limits.check_size(length_of(file))
        for number, line in enumerate(iter(lambda: file.readline(longest), b""), 1):
            limits.check_items(number)
            yield line.decode("utf-8", "replace")


def read_json(path: Path, limits: Limits = JSON) -> Any:
    """Read a JSON file, in which ``NaN`` and ``Infinity`` are allowed. Raises UnreadableError."""
    text = read_text(path, limits)
    with unreadable("dump.json", path.name, ValueError, RecursionError):
        return parse_json(text, limits)


def parse_json(text: str, limits: Limits = JSON) -> Any:
    """Return the value of a JSON text. Integers are limited to 64 bits, texts can be encoded as UTF-8. Raises
    ValueError or RecursionError for invalid JSON, UnreadableError beyond the limits."""
    limits.check_items(sum(map(text.count, _STRUCTURE)))
    decode = json.JSONDecoder(parse_int=parse_integer).decode if _LONG_NUMBER.search(text) else json.loads
    value = decode(text)
    return encodable(value) if _SURROGATE.search(text) else value


_GAP: Final = re.compile(r"[\s,:]*")
_DECODER: Final = json.JSONDecoder(parse_int=parse_integer)


def read_object(path: Path, inner: str = "") -> tuple[dict[str, Any], UnreadableError | None]:
    """Return the JSON object in a file, and its damage or None. Raises UnreadableError if the file cannot be
    read.

    ``NaN`` and ``Infinity`` are allowed. Of a truncated file, the complete members are returned: all members
    of the object ``inner``, and other members if they are plain texts. For another JSON value, {} is returned
    with damage.
    """
    text = read_text(path, JSON)
    try:
        document = parse_json(text)
    except UnreadableError:
        raise
    except (ValueError, RecursionError) as error:
        damage = UnreadableError("dump.json_cut", f"{path.name}: {error}"[:300])
        return encodable(_recovered(text, inner)), damage
    if isinstance(document, dict):
        return document, None
    return {}, UnreadableError("dump.json", f"{path.name} does not contain an object")


def _recovered(text: str, inner: str) -> dict[str, Any]:
    """Return the complete members of a truncated object."""
    if not inner:
        return _members(text, text.find("{") + 1)
    start = re.search(rf'"{re.escape(inner)}"\s*:\s*\{{', text)
    head = text[: start.start()] if start else text
    plain: dict[str, Any] = dict(re.findall(r'"(\w+)"\s*:\s*"([^"\\]*)"', head[:10_000]))
    return plain | {inner: _members(text, start.end()) if start else {}}


def _members(text: str, at: int) -> dict[str, Any]:
    """Return the members of an object from inside its brace on, up to its end or to invalid JSON."""
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
    """Return the offset after white space, commas and colons."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at
