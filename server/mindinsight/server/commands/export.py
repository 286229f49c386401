"""Command ``mindinsight export``: writes summaries as tables and as files of each kind."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindinsight.server.client.export import KINDS, TABLES, Exported, export_payloads, export_scalars
from mindinsight.server.client.reader import Summary
from mindinsight.server.commands import terminal
from mindinsight.server.commands.options import add_command, add_flag, add_runs
from mindinsight.server.errors import BadSettings, os_reason
from mindinsight.server.store.run import torn_files


def register(subparsers: Any, name: str = "export") -> None:
    """Add the command under a name."""
    parser = add_command(subparsers, name, export)
    add_runs(parser)
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=KINDS)
    parser.add_argument("--output", type=Path, default=Path("output"))
    parser.add_argument("--format", choices=tuple(TABLES), default="csv")
    add_flag(parser, "overwritten")


def export(options: argparse.Namespace) -> int:
    """Write the values of the matching runs to files, and return 0, or 1 if data or files were damaged or
    nothing was written. Raises BadSettings if no run matches or the files cannot be written."""
    summary = Summary(options.summary_base_dir, _show_progress if sys.stderr.isatty() else None)
    runs = summary.matching(options.runs)
    if not runs:
        raise BadSettings(terminal.describe_no_runs(summary, options.summary_base_dir, options.runs))
    try:
        return _export_runs(summary, runs, options)
    except OSError as error:  # disk full or permission denied
        raise BadSettings(f"{error.filename or options.output}: {os_reason(error)}") from error


def _export_runs(summary: Summary, runs: tuple[str, ...], options: argparse.Namespace) -> int:
    values, problems, paths = 0, 0, set()
    total = _count(summary, runs, options.kind)
    for exported in terminal.progress(_exports(summary, runs, options), total, "cli.progress.written"):
        values += exported.rows
        paths.add(exported.path)
        if exported.problem:
            problems += 1
            words = {"path": exported.path, "why": exported.problem}
            terminal.say(terminal.localize("cli.not_written", words))
    problems += _report_damage(summary, runs)
    for line in terminal.directory_lines(summary):
        problems += 1
        terminal.say(line)
    left = _left_out(summary, runs)
    if left and options.kind == KINDS:
        terminal.say(terminal.localize("cli.not_exported", {"kinds": ", ".join(left)}))
    counts = {"value": values, "run": len(runs), "file": len(paths)}
    words = {f"{thing}s": terminal.count_text(count, thing) for thing, count in counts.items()}
    key = "cli.exported" if paths else "cli.exported.nothing"
    print(terminal.localize(key, {**words, "output": options.output}))
    return 0 if values and not problems else 1


def _left_out(summary: Summary, runs: tuple[str, ...]) -> list[str]:
    """Return the kinds of data that are never exported, each with its number of tags."""
    tags: Counter[str] = Counter()
    for run in map(summary.run, runs):
        tags.update({kind: len(series) for kind, series in run.references.items() if kind not in KINDS})
    return [
        terminal.localize("cli.kind_tags", {"kind": kind, "n": count}) for kind, count in sorted(tags.items())
    ]


def _exports(summary: Summary, runs: tuple[str, ...], options: argparse.Namespace) -> Iterator[Exported]:
    for run in runs:
        if "scalar" in options.kind:
            yield from export_scalars(summary, options.output, run, options.format, options.overwritten)
        for kind in KINDS:
            if kind != "scalar" and kind in options.kind:
                yield from export_payloads(summary, kind, options.output, run)


def _count(summary: Summary, runs: tuple[str, ...], kinds: tuple[str, ...]) -> int:
    """Return the number of scalar series and payloads to export."""
    total = 0
    for name in runs:
        run = summary.run(name)
        total += len(run.scalars) + len(run.system) if "scalar" in kinds else 0
        for kind, tags in run.references.items():
            total += sum(series.count for series in tags.values()) if kind in kinds else 0
    return total


def _report_damage(summary: Summary, runs: tuple[str, ...]) -> int:
    """Print the damage of the event files and return its count."""
    now, count = time.time(), 0
    for run in map(summary.run, runs):
        for line in terminal.damage_lines(run, now, every=True):
            terminal.say(line)
        count += terminal.damage_count(run) + len(torn_files(run, now))
    return count


def _show_progress(read: int, total: int) -> None:
    end = "\n" if read == total else ""
    words = {"read": read >> 20, "total": total >> 20}
    print(f"\r{terminal.localize('cli.progress.read', words)}", end=end, file=sys.stderr, flush=True)
