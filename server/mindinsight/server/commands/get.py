"""Command ``mindinsight get``: prints scalar series, or values of another kind, without sampling."""

import argparse
import csv
import io
import json
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindinsight.server.client.export import KINDS
from mindinsight.server.client.payload_kinds import PAYLOADS
from mindinsight.server.client.reader import Scalars, Summary
from mindinsight.server.commands import terminal
from mindinsight.server.commands.options import add_bases, add_command, add_flag
from mindinsight.server.errors import BadSettings, Gone
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.scalar_csv import csv_of
from mindinsight.server.store.series import Recorded
from mindinsight.server.texts import plain_text

_EXACT: Final = float(2**53)  # all integers up to this are exact in float64


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "get", get)
    parser.add_argument("runs", metavar="RUN")
    parser.add_argument("tag", metavar="TAG")
    add_bases(parser)
    parser.add_argument("--kind", choices=KINDS, default="scalar")
    parser.add_argument("--format", choices=tuple(_FORMS), default="csv")
    add_flag(parser, "overwritten")


def get(options: argparse.Namespace) -> int:
    """Print scalar series, or values of another kind, and return 0. Raises BadSettings (exit code 1) if the
    run or tag does not exist.
    """
    summary = Summary(options.summary_base_dir)
    show = _print_scalars if options.kind == "scalar" else _print_payloads
    printed = show(summary, options)
    for line in terminal.directory_lines(summary):
        terminal.say(line)
    if not printed:
        kind = terminal.localize(f"cli.kind.{options.kind}")
        words = {"run": options.runs, "tag": options.tag, "kind": kind}
        if summary.matching(options.runs):
            raise BadSettings(terminal.localize("cli.no_tag", words))
        near = terminal.near_names(options.runs, summary.runs)
        key = "cli.no_run.near" if near else "cli.no_run"
        raise BadSettings(terminal.localize(key, {**words, "names": ", ".join(near)}))
    return 0


def _print_scalars(summary: Summary, options: argparse.Namespace) -> bool:
    """Print series and return True if there are any. Integers that may have been rounded are reported on
    standard error."""
    series = summary.scalars(options.tag, options.runs)
    if series:
        _FORMS[options.format](series, options.overwritten)
    for run in dict.fromkeys(run for run, _ in series.series):
        for line in terminal.rounding_lines(summary.run(run)):
            terminal.say(line)
    for (run, tag), points in series.series.items():
        if count := int((np.isfinite(values := points.line().values) & (np.abs(values) >= _EXACT)).sum()):
            text = terminal.localize("damage.may_be_rounded", {"n": count})
            terminal.say(terminal.localize("cli.line", {"head": f"{tag} ({run})", "text": text}))
    return bool(series)


def _print_payloads(summary: Summary, options: argparse.Namespace) -> bool:
    """Print values of a kind and return True if there are any. Unreadable ones are reported and omitted."""
    rows_of = PAYLOADS[options.kind].rows
    rows, any_item = [], False
    for item in summary.items(options.kind, options.tag, options.runs):
        any_item = True
        head = {"run": item.run, "tag": item.tag, "step": item.step, "wall_time": item.wall}
        try:
            rows += [{**head, **row} for row in rows_of(item.data)]
        except (Gone, UnreadableError) as error:
            words = {"tag": item.tag, "run": item.run, "step": item.step, "why": error}
            terminal.say(terminal.localize("cli.not_read.value", words))
    if rows:
        _ROW_FORMS[options.format](rows)
    return any_item


def _csv(scalars: Scalars, overwritten: bool) -> None:
    rows = ((run, tag, series) for (run, tag), series in scalars.series.items())
    for text in csv_of(rows, overwritten):
        terminal.write(text)


def _json(scalars: Scalars, overwritten: bool) -> None:
    rows = []
    for (run, tag), series in scalars.series.items():
        points = series.recorded() if overwritten else series.line()
        columns: dict[str, Any] = {"step": points.steps, "wall_time": points.walls, "value": points.values}
        if isinstance(points, Recorded):
            columns["overwritten"] = points.overwritten
        rows.append({"run": run, "tag": tag} | {name: column.tolist() for name, column in columns.items()})
    print(terminal.as_json(rows))


def _row_csv(rows: list[dict[str, Any]]) -> None:
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    terminal.write(sink.getvalue())


def _cell(value: Any) -> Any:
    """Return a value for a CSV cell: text that no spreadsheet reads as a formula, lists as JSON, numbers
    in full precision.
    """
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list | tuple):
        return json.dumps(value)
    return "" if value is None else repr(value)


_ROW_FORMS: Final[dict[str, Callable[[list[dict[str, Any]]], None]]] = {
    "csv": _row_csv,
    "json": lambda rows: print(terminal.as_json(rows)),
}
_FORMS: Final[dict[str, Callable[[Scalars, bool], None]]] = {"csv": _csv, "json": _json}
