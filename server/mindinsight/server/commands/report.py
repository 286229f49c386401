"""Command `mindinsight report`: writes a report of one run into a single HTML file."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.export import safe
from mindinsight.server.client.reader import Summary
from mindinsight.server.commands.dump.dump_selection import statistics_cache, worker_pool
from mindinsight.server.commands.options import add_bases, add_command
from mindinsight.server.commands.terminal import damage_lines, localize, near_names, report_errors, say
from mindinsight.server.errors import BadSettings
from mindinsight.server.report import Page, Progress, ReportSource
from mindinsight.server.texts import message, terminal_language

_NAMED: Final = 8  # runs listed in an error


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "report", report)
    parser.add_argument("name", metavar="RUN")
    add_bases(parser)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--language", choices=("en", "zh"), default=terminal_language(os.environ))


@report_errors
def report(options: argparse.Namespace) -> int:
    """Write the report, and return 0, or 2 if the file cannot be written or not exactly one run matches."""
    from mindinsight.server.api.explanation import explained_report  # with every analysis

    summary, run = chosen_run(options.name, options.summary_base_dir)
    record = summary.run(run)
    output = options.output or Path(f"report-{safe(record.name.replace('/', '-'))}.html")
    with worker_pool() as executor:
        source = ReportSource(record, summary.by_id(), summary.dump_path, executor, statistics_cache())
        for part in explained_report(source, options.language, time.time()):
            if isinstance(part, Progress):
                show_progress(part, options.language)
            else:
                _write(output, part)
    for line in damage_lines(record, time.time()):
        say(line)
    if options.name.removeprefix("./").rstrip("/") == record.job.removeprefix("./") != record.name:
        say(localize("cli.report.rank", {"run": record.name}))  # not of all ranks of the job
    print(output)
    return 0


def chosen_run(name: str, bases: Sequence[str]) -> tuple[Summary, str]:
    """Return all runs, and the id of the only run called `name`. A job's name selects its first rank. Raises
    BadSettings, which suggests similar names, unless exactly one run matches."""
    summary = Summary(bases)
    matches = summary.matching(name) or _first_rank(summary, name)
    if not matches and Path(name).is_dir():
        summary = Summary(name)
        matches = ("./",) if "./" in summary.runs else summary.runs
    if len(matches) == 1:
        return summary, matches[0]
    if matches:
        words = {"name": name, "n": len(matches), "names": _listed(matches)}
        raise BadSettings(localize("cli.report.several", words))
    near = near_names(name, summary.runs)
    base = localize("cli.or").join(map(str, bases))
    words = {"name": name, "base": base, "names": _listed(near or summary.runs)}
    raise BadSettings(localize("cli.report.near" if near else "cli.report.none", words))


def _first_rank(summary: Summary, name: str) -> tuple[str, ...]:
    """Return a tuple of the id of the first rank of the job called ``name``, or an empty one."""
    job = f"./{name.removeprefix('./').rstrip('/')}"
    ranks = [run for run in summary.by_id().values() if run.job == job]
    ranks.sort(key=lambda run: (run.rank is None, run.rank or 0, run.id))
    return tuple(run.id for run in ranks[:1])


def _listed(names: Any) -> str:
    shown = ", ".join(list(names)[:_NAMED])
    return f"{shown}, ..." if len(names) > _NAMED else shown or localize("cli.report.no_runs")


def show_progress(progress: Progress, chosen: str) -> None:
    """Show how far the work is on standard error, at a terminal, in the chosen language."""
    if sys.stderr.isatty():
        end = "\n" if progress.done == progress.total else ""
        text = f"\r{message(progress.key, {}, chosen)}: {progress.done}/{progress.total}"
        print(text, end=end, file=sys.stderr, flush=True)


def _write(output: Path, page: Page) -> None:
    """Write the complete file, or nothing if writing fails."""
    part = output.with_name(f".{output.name}.part")
    try:
        part.write_text(page.html, encoding="utf-8", errors="backslashreplace")
        part.replace(output)
    except OSError:
        part.unlink(missing_ok=True)
        raise
