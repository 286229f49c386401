"""``mindinsight get``: scalar series on standard output, every point of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, Final

from mindinsight.server.client.reader import Scalars, Summary
from mindinsight.server.commands.options import add_bases
from mindinsight.server.commands.terminal import as_json
from mindinsight.server.errors import BadSettings
from mindinsight.server.http.csv import csv_of


def register(subparsers: Any) -> None:
    text = "print scalar series, every point of them, as CSV or JSON"
    parser = subparsers.add_parser("get", help=text, description=text, allow_abbrev=False)
    parser.add_argument("runs", metavar="RUN", help="as `mindinsight ls` tells it, or a pattern with * and ?")
    parser.add_argument("tag", metavar="TAG", help="a tag, or a pattern with * and ?")
    add_bases(parser, "--summary-dir", "--summary-base-dir")
    parser.add_argument("--format", choices=tuple(_FORMS), default="csv")
    parser.set_defaults(run=get)


def get(options: argparse.Namespace) -> int:
    """0: printed. 1: there is no such series."""
    summary = Summary(options.summary_dir)
    series = summary.scalars(options.tag, options.runs)
    if not series:
        runs = summary.matching(options.runs)
        what = f"no scalar {options.tag!r} in {options.runs!r}" if runs else f"no run {options.runs!r}"
        raise BadSettings(f"There is {what}; `mindinsight ls` lists what there is.")
    _FORMS[options.format](series)
    return 0


def _csv(series: Scalars) -> None:
    for text in csv_of((run, tag, columns) for (run, tag), columns in series.items()):
        sys.stdout.write(text)


def _json(series: Scalars) -> None:
    rows = [
        {
            "run": run,
            "tag": tag,
            "starts": columns.starts.tolist(),
            "step": columns.steps.tolist(),
            "wall_time": columns.walls.tolist(),
            "value": columns.values.tolist(),
        }
        for (run, tag), columns in series.items()
    ]
    print(as_json(rows))


_FORMS: Final[dict[str, Callable[[Scalars], None]]] = {"csv": _csv, "json": _json}
