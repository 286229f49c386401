"""Parser of truncated JSON objects: returns the members that are complete."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.budgets import JSON
from mindinsight.server.formats.text_files import parse_json, read_text
from mindinsight.server.formats.texts import encodable, parse_integer
from mindinsight.server.formats.unreadable import UnreadableError

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
