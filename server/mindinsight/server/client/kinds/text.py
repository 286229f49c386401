"""Texts: Markdown files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mindinsight.server.client.kinds import Payload, with_ending
from mindinsight.server.formats.payloads.media_payloads import text


def write(stem: Path, value: str) -> Path:
    """Write `<step>.md` in UTF-8. Return the path."""
    target = with_ending(stem, ".md")
    target.write_text(value, encoding="utf-8", newline="")
    return target


def rows(value: str) -> Iterator[dict[str, str]]:
    """Yield the text."""
    yield {"text": value}


PAYLOAD: Final = Payload(text, write, rows)
