"""Command ``mindinsight get``: prints scalar series, without sampling."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

from mindinsight.server.client.reader import Scalars, Summary
from mindinsight.server.commands.options import add_bases
from mindinsight.server.commands.terminal import as_json, write
from mindinsight.server.errors import BadSettings
from mindinsight.server.http.csv import csv_of
from mindinsight.server.store.series import Recorded


def register(subparsers: Any) -> None:
    text = "print scalar series as CSV or JSON: steps in order, for each step the value written last"
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
    parser.set_defaults(run=get)


def get(options: argparse.Namespace) -> int:
    """0: printed. 1: there is no such series."""
    summary = Summary(options.summary_dir)
    series = summary.scalars(options.tag, options.runs)
    if not series:
        runs = summary.matching(options.runs)
        missing = f"no scalar {options.tag!r} in {options.runs!r}" if runs else f"no run {options.runs!r}"
        raise BadSettings(f"There is {missing}; `mindinsight ls` lists runs and tags.")
    _FORMS[options.format](series, options.overwritten)
    return 0


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


_FORMS: Final[dict[str, Callable[[Scalars, bool], None]]] = {"csv": _csv, "json": _json}
