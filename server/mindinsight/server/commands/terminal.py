"""Terminal output: tables, JSON, progress, damage, and messages in the language of the user."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.errors import BadSettings, ValueProblem, os_reason
from mindinsight.server.formats.dumps.dump_types import FileDamage
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.settings.base_dirs import empty_directory
from mindinsight.server.store.run import Run, torn_files
from mindinsight.server.texts import language_texts, terminal_language, terminal_text
from mindinsight.server.types import ROUNDED

if TYPE_CHECKING:
    import argparse

    from mindinsight.server.client.reader import Summary


Item = TypeVar("Item")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None) -> str:
    """Return a text table: columns as wide as their widest cell, numbers right-aligned. If lines are
    longer than `width` characters, the cells of the widest column lose their beginning."""
    cells = [[cell(value) for value in row] for row in rows]
    numeric = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(heads))]
    widths = [max(_width(head), *(_width(row[i]) for row in cells), 0) for i, head in enumerate(heads)]
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
    """Return the width of the terminal in characters, or None if standard output is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(value: object) -> str:
    """Return a value as text of a cell: numbers with six digits, text with escaped control characters, None
    as `-`."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(str(value))


def printable(text: str, keep: str = "") -> str:
    """Return text with escaped control characters, which a terminal would execute, except those in `keep`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def as_json(value: Any) -> str:
    """Return a value as strict JSON text, without NaN and infinity. Non-finite numbers become the texts nan,
    inf or -inf."""
    text = json.dumps(non_finite_as_text(value), ensure_ascii=False, allow_nan=False, indent=1)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Print a message on standard error."""
    print(printable(text, keep="\n"), file=sys.stderr, flush=True)


def write(text: str) -> None:
    """Write text to standard output. At a terminal, control characters are escaped."""
    sys.stdout.write(printable(text, keep="\r\n") if sys.stdout.isatty() else text)


def progress(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """Yield the items and show the text ``title`` with their count on standard error, at a terminal.
    ``title`` is the key of a text. The first second shows nothing."""
    shown = 0.0
    started = time.monotonic()
    interactive = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if interactive and now - started > 1 and (now - shown > 0.2 or number == total):
            shown = now
            end = "\n" if number == total else ""
            words = {"title": localize(title), "number": number, "total": total}
            print(f"\r{localize('cli.progress', words)}", end=end, file=sys.stderr, flush=True)


def _fit(text: str, width: int, right: bool) -> str:
    fitted = text
    while _width(fitted) > width:
        fitted = "…" + fitted.removeprefix("…")[max(1, (_width(fitted) - width) // 2) :]
    padding = " " * (width - _width(fitted))
    return padding + fitted if right else fitted + padding


def _width(text: str) -> int:
    """Return the number of columns of a terminal that a text fills: two for wide characters of Chinese."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def count_text(count: int, thing: str) -> str:
    """Return a number with the noun for ``thing``: `1 step`, `2 steps`."""
    return localize(f"cli.count.{thing}", {"n": count})


Command: TypeAlias = "Callable[[argparse.Namespace], int]"


def describe_reason(reason: str, detail: str = "") -> str:
    """Return the text of a reason with its detail. A reason without a text is returned unchanged."""
    text = language_texts(terminal_language(os.environ)).get(reason, reason)
    return f"{text} ({cell(detail)})" if detail else text


def localize(key: str, words: Mapping[str, object] = MappingProxyType({})) -> str:
    """Return a text of the locale files in the terminal's language, filled in with `words`, escaped."""
    return terminal_text(key, words, escape=cell)


def heads(*names: str) -> list[str]:
    """Return the headings of the columns ``names`` in the language of the terminal."""
    return [localize(f"cli.head.{name}") for name in names]


def localize_claim(claim: Claim) -> str:
    """Return the sentence of a claim in the language of the terminal, with escaped values."""
    return sentence(claim, terminal_language(os.environ), escape=cell)


def report_damage(damage: Sequence[FileDamage]) -> None:
    """Print a line on standard error for each file, or section of a file, that could not be read."""
    for entry in damage:
        reason = describe_reason(entry.reason, entry.detail)
        say(localize("cli.line", {"head": entry.path, "text": reason}))


def describe_no_runs(summary: Summary, directories: Sequence[str], pattern: str) -> str:
    """Return why no run of a pattern was found: none of this name, none at all, or an empty directory."""
    below = {"base": localize("cli.or").join(directories)}
    if summary.runs:
        return localize("cli.no_run_of", {**below, "name": pattern, "n": len(summary.runs)})
    if all(Path(path).is_dir() and empty_directory(path) for path in directories):
        return localize("cli.empty", below)
    return localize("cli.no_runs", below)


def near_names(name: str, runs: Sequence[str]) -> list[str]:
    """Return up to three runs whose names are like ``name``, the nearest first, [] if none is."""
    plain = {run.removeprefix("./").lower(): run for run in runs}
    return [plain[near] for near in get_close_matches(name.removeprefix("./").lower(), plain, 3, 0.7)]


def report_errors(command: Command) -> Command:
    """Decorate a command, so that ValueError, OSError, UnreadableError, BadSettings and BrokenExecutor end it
    with exit code 2 and one line on standard error instead of a traceback."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        try:
            return command(options)
        except BrokenPipeError:  # an OSError that is handled by ``main``
            raise
        except UnreadableError as error:
            say(f"mindinsight: {describe_reason(error.reason, error.detail)}")
        except ValueProblem as error:
            say(f"mindinsight: {localize(error.key, error.words)}")
        except OSError as error:
            reason = {"head": error.filename, "text": os_reason(error)}
            say(f"mindinsight: {localize('cli.line', reason) if error.filename else reason['text']}")
        except (ValueError, BadSettings, BrokenExecutor) as error:
            say(f"mindinsight: {cell(error)}")
        return 2

    return run


def directory_lines(summary: Summary) -> Iterator[str]:
    """Yield one line for each directory that could not be listed and whose runs are therefore missing."""
    for problem in summary.problems:
        why = localize(problem.reason, {"path": problem.path})
        yield localize("cli.not_read.directory", {"why": why})


def damage_count(run: Run) -> int:
    """Return the number of skipped sections and unreadable files. An unfinished last record is no damage."""
    return sum(len(file.damage) + bool(file.error) for file in run.files)


def damage_lines(run: Run, now: float, every: bool = False) -> Iterator[str]:
    """Yield one line for each reason in each file, or with `every` for each skipped section, and one for
    each unreadable file, unfinished last record, and file with rounded integers. `now` is the Unix time."""
    torn = {file.name for file in torn_files(run, now)}
    for file in run.files:
        path = {"path": f"{run.id.removesuffix('/')}/{file.name}"}
        if file.error:
            yield localize("cli.not_read", {**path, "why": describe_reason(file.error)})
        if every:
            for damage in file.damage:
                facts = {"size": damage.size, "offset": damage.offset, "why": describe_reason(damage.reason)}
                yield localize("cli.skipped.at", {**path, **facts})
        else:
            for reason, count in Counter(damage.reason for damage in file.damage).items():
                size = sum(damage.size for damage in file.damage if damage.reason == reason)
                facts = {"n": count, "size": size, "why": describe_reason(reason)}
                yield localize("cli.skipped", {**path, **facts})
        if file.name in torn:
            yield localize("cli.torn", {**path, "n": file.pending})
    yield from rounding_lines(run)


def rounding_lines(run: Run) -> Iterator[str]:
    """Yield one line for each file with integers that float64 cannot hold. This is not damage."""
    for file in run.files:
        count = dict(file.skipped).get(ROUNDED)
        if count:
            path = f"{run.id.removesuffix('/')}/{file.name}"
            yield localize("cli.line", {"head": path, "text": localize("claim.file.rounded", {"n": count})})
