"""Terminal output: tables, JSON, and progress on standard error."""

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


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None) -> str:
    """Format a table: columns as wide as their widest cell, numbers right-aligned.

    Where lines are longer than ``width`` characters, the widest column is cut: names lose their beginning.
    """
    cells = [[cell(value) for value in row] for row in rows]
    numeric = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(heads))]
    widths = [max(len(head), *(len(row[i]) for row in cells), 0) for i, head in enumerate(heads)]
    excess = sum(widths) + 2 * (len(widths) - 1) - (width or math.inf)
    if excess > 0:
        widest = widths.index(max(widths))
        widths[widest] = max(20, int(widths[widest] - excess))
    lines = []
    for row in [list(heads), *cells]:
        padded = zip(row, widths, numeric, strict=True)
        lines.append("  ".join(_fit(text, w, right) for text, w, right in padded).rstrip())
    return "\n".join(lines)


def terminal_width() -> int | None:
    """Width of the terminal in characters; None where standard output is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(value: object) -> str:
    """Format a cell: numbers with six digits, text with escapes for what cannot be printed."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(str(value))


def printable(text: str, keep: str = "") -> str:
    """Escape control characters, which a terminal would obey, except those in ``keep``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def as_json(value: Any) -> str:
    """Format strict JSON: numbers that are not finite become the texts nan, inf or -inf."""
    text = json.dumps(non_finite_as_text(value), ensure_ascii=False, allow_nan=False, indent=1)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Print a message on standard error."""
    print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def write(text: str) -> None:
    """Write text to standard output; control characters are escaped at a terminal."""
    sys.stdout.write(printable(text, keep="\r\n") if sys.stdout.isatty() else text)


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Pass items on and show their count on standard error, after the first second, at a terminal."""
    shown = 0.0
    started = time.monotonic()
    interactive = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if interactive and now - started > 1 and (now - shown > 0.2 or number == total):
            shown = now
            end = "\n" if number == total else ""
            print(f"\r{what}: {number} of {total}", end=end, file=sys.stderr, flush=True)


def _fit(text: str, width: int, right: bool) -> str:
    fitted = text if len(text) <= width else "…" + text[len(text) - width + 1 :]
    return fitted.rjust(width) if right else fitted.ljust(width)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def count_text(count: int, thing: str) -> str:
    """Return a number with its English noun: ``1 step``, ``2 steps``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
