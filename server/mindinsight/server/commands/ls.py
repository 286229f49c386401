"""``mindinsight ls``: the runs below a directory, how they are, and their last values."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mindinsight.server.client.reader import Summary
from mindinsight.server.commands.options import add_bases
from mindinsight.server.commands.terminal import as_json, cell, room, table
from mindinsight.server.store.run import Run

_HEADS: Final = ("RUN", "STATE", "STEP", "LAST VALUES")
_STATES: Final = ((120, "running"), (3600, "quiet"))  # seconds since the last write, as on the page of runs


def register(subparsers: Any) -> None:
    text = "list the runs below a directory: state, last step, last value of every scalar"
    parser = subparsers.add_parser("ls", help=text, description=text, allow_abbrev=False)
    add_bases(parser, "--summary-dir", "--summary-base-dir")
    parser.add_argument("--runs", default="*", help="one run, or a pattern with * and ? (default: all)")
    parser.add_argument("--json", action="store_true", help="everything that is known, for scripts")
    parser.set_defaults(run=ls)


def ls(options: argparse.Namespace) -> int:
    """0: listed. 1: there is no such run."""
    summary = Summary(options.summary_dir)
    runs = [summary.run(name) for name in summary.matching(options.runs)]
    if options.json:
        print(as_json(list(_facts(runs))))
    else:
        print(table(_HEADS, map(_row, runs), room()))
    return 0 if runs else 1


def _row(run: Run) -> tuple[object, ...]:
    last = (f"{tag}={cell(one.last_value)}" for tag, one in sorted(run.scalars.items()))
    return run.id, _state(run), _step(run), " ".join(last) or None


def _facts(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in runs:
        yield {
            "run": run.id,
            "state": _state(run),
            "updated": run.updated,
            "step": _step(run),
            "scalars": {
                tag: {"count": one.count, "step": one.last_step, "value": one.last_value}
                for tag, one in sorted(run.scalars.items())
            },
            "others": {kind: sorted(tags) for kind, tags in run.references.items()},
            "damage": sum(len(file.damage) + bool(file.error) for file in run.files),
        }


def _state(run: Run) -> str:
    age = time.time() - run.updated
    return next((state for limit, state in _STATES if age < limit), "ended")


def _step(run: Run) -> int | None:
    return max((one.last_step for one in run.scalars.values()), default=None)
