"""Command ``mindinsight get``: prints scalar series, or texts, without sampling."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable
from typing import Any, Final

from mindinsight.server.client.reader import Item, Scalars, Summary
from mindinsight.server.commands.options import add_bases
from mindinsight.server.commands.terminal import as_json, write
from mindinsight.server.errors import BadSettings
from mindinsight.server.http.csv import csv_of, plain_text
from mindinsight.server.store.series import Recorded


def register(subparsers: Any) -> None:
    text = "print scalar series or texts as CSV or JSON: steps in order, for each step the value written last"
    parser = subparsers.add_parser("get", help=text, description=text, allow_abbrev=False)
    parser.add_argument(
        "runs", metavar="RUN", help="name as listed by `mindinsight ls`, or a pattern with * and ?"
    )
    parser.add_argument("tag", metavar="TAG", help="a tag, or a pattern with * and ?")
    add_bases(parser, "--summary-dir", "--summary-base-dir")
    parser.add_argument("--format", choices=tuple(_FORMS), default="csv")
    parser.add_argument(
        "--overwritten",
        action="store_true",
        help="print every recorded row and mark those that a later one overwrote",
    )
    parser.add_argument("--kind", choices=("scalar", "text"), default="scalar", help="default: scalar")
    parser.set_defaults(run=get)


def get(options: argparse.Namespace) -> int:
    """0: printed. 1: there is no such series."""
    summary = Summary(options.summary_dir)
    printed = _print_texts(summary, options) if options.kind == "text" else _print_scalars(summary, options)
    if not printed:
        known = summary.matching(options.runs)
        tag = f"no {options.kind} {options.tag!r} in {options.runs!r}"
        missing = tag if known else f"no run {options.runs!r}"
        raise BadSettings(f"There is {missing}; `mindinsight ls` lists runs and tags.")
    return 0


def _print_scalars(summary: Summary, options: argparse.Namespace) -> bool:
    """Whether there are any."""
    series = summary.scalars(options.tag, options.runs)
    if series:
        _FORMS[options.format](series, options.overwritten)
    return bool(series)


def _print_texts(summary: Summary, options: argparse.Namespace) -> bool:
    """Whether there are any."""
    texts = list(summary.texts(options.tag, options.runs))
    if texts:
        _TEXT_FORMS[options.format](texts)
    return bool(texts)


def _csv(scalars: Scalars, overwritten: bool) -> None:
    rows = ((run, tag, series) for (run, tag), series in scalars.series.items())
    for text in csv_of(rows, overwritten):
        write(text)


def _json(scalars: Scalars, overwritten: bool) -> None:
    rows = []
    for (run, tag), series in scalars.series.items():
        points = series.recorded() if overwritten else series.line()
        columns = {
            "step": points.steps.tolist(),
            "wall_time": points.walls.tolist(),
            "value": points.values.tolist(),
        }
        if isinstance(points, Recorded):
            columns["overwritten"] = points.overwritten.tolist()
        rows.append({"run": run, "tag": tag, **columns})
    print(as_json(rows))


def _text_csv(texts: list[Item[str]]) -> None:
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(("run", "tag", "step", "wall_time", "text"))
    for item in texts:
        labels = (plain_text(item.run), plain_text(item.tag), item.step, repr(item.wall))
        writer.writerow((*labels, plain_text(item.data)))
    write(sink.getvalue())


def _text_json(texts: list[Item[str]]) -> None:
    rows = [
        {"run": item.run, "tag": item.tag, "step": item.step, "wall_time": item.wall, "text": item.data}
        for item in texts
    ]
    print(as_json(rows))


_TEXT_FORMS: Final[dict[str, Callable[[list[Item[str]]], None]]] = {"csv": _text_csv, "json": _text_json}
_FORMS: Final[dict[str, Callable[[Scalars, bool], None]]] = {"csv": _csv, "json": _json}
