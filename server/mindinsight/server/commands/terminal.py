"""Output for people and machines at a terminal: tables, JSON, progress on standard error."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from mindinsight.server.compute.non_finite import non_finite_as_text

Item = TypeVar("Item")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], room: int | None = None) -> str:
    """Columns as wide as their widest cell; numbers to the right. Names cannot break the lines.

    With ``room``, a number of characters, the widest column gives way: names lose their beginning.
    """
    cells = [[cell(value) for value in row] for row in rows]
    numeric = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(heads))]
    widths = [max(len(head), *(len(row[i]) for row in cells), 0) for i, head in enumerate(heads)]
    excess = sum(widths) + 2 * (len(widths) - 1) - (room or math.inf)
    if excess > 0:
        widest = widths.index(max(widths))
        widths[widest] = max(20, int(widths[widest] - excess))
    lines = []
    for row in [list(heads), *cells]:
        padded = zip(row, widths, numeric, strict=True)
        lines.append("  ".join(_fit(text, w, right) for text, w, right in padded).rstrip())
    return "\n".join(lines)


def room() -> int | None:
    """Characters in a line of the terminal; None where the output goes into a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(value: object) -> str:
    """Six digits of a number; of text only what can be printed, the rest as escapes."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(str(value))


def printable(text: str, keep: str = "") -> str:
    """``text`` with escapes for what a terminal obeys rather than shows, but for characters to ``keep``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def as_json(value: Any) -> str:
    """Strict JSON: what is not finite becomes the text nan, inf or -inf; all of it can be printed."""
    text = json.dumps(non_finite_as_text(value), ensure_ascii=False, allow_nan=False, indent=1)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Lines for the person, on standard error."""
    print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def write(text: str) -> None:
    """Text on standard output; at a terminal with escapes for what it would obey."""
    sys.stdout.write(printable(text, keep="\r\n") if sys.stdout.isatty() else text)


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Pass items on and count them on standard error, from the second second on, if someone is looking."""
    shown = 0.0
    started = time.monotonic()
    looking = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if looking and now - started > 1 and (now - shown > 0.2 or number == total):
            shown = now
            end = "\n" if number == total else ""
            print(f"\r{what}: {number} of {total}", end=end, file=sys.stderr, flush=True)


def _fit(text: str, width: int, right: bool) -> str:
    shown = text if len(text) <= width else "…" + text[len(text) - width + 1 :]
    return shown.rjust(width) if right else shown.ljust(width)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True
