"""Command ``mindinsight dump stat``: statistics of every tensor."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Final

from mindinsight.server.commands.dump.dump_selection import (
    add_selection,
    no_match,
    open_single_dump,
    select_tensors,
    statistics_cache,
    worker_pool,
)
from mindinsight.server.commands.options import add_command, add_executor
from mindinsight.server.commands.terminal import (
    as_json,
    progress,
    report_damage,
    report_errors,
    say,
    table,
    terminal_width,
)
from mindinsight.server.debug.examine import TensorResult, finiteness, measure_all

_COLUMNS: Final = (
    "minimum",
    "maximum",
    "mean",
    "std",
    "norm",
    "zeros",
    "nans",
    "positive_infs",
    "negative_infs",
)
_HEADS: Final = (
    "RANK",
    "STEP",
    "OPERATOR",
    "IO",
    "SLOT",
    "DTYPE",
    "SHAPE",
    "MIN",
    "MAX",
    "MEAN",
    "STD",
    "L2",
    "ZEROS",
)


def register(actions: Any) -> None:
    """Add the action."""
    text = (
        "minimum, maximum, mean, standard deviation, norm and counts of the finite elements of every tensor"
    )
    parser = add_command(actions, "stat", run, text)
    add_selection(parser)
    add_executor(parser)
    parser.add_argument("--not-finite", action="store_true", help="only tensors with NaN or infinities")
    parser.add_argument(
        "--sort", choices=_COLUMNS, help="sort by this column, largest first, instead of in execution order"
    )


@report_errors
def run(options: argparse.Namespace) -> int:
    """Print statistics.

    Return 0 if all tensors are finite, 1 if not or if it is unknown, 2 without a dump or a measurable tensor.
    """
    dump = open_single_dump(options.path)
    entries, damage = select_tensors(dump, options)
    with worker_pool(options.executor, options.path) as executor:
        results = list(
            progress(measure_all(entries, executor, statistics_cache()), len(entries), "tensors measured")
        )
    damage += [result.damage for result in results if result.damage is not None]
    unknown = [result for result in results if finiteness(result) == "unknown"]
    undecided = sum(result.damage is None for result in unknown)
    inferred = sum(result.measurement is not None and not result.computed for result in results)
    not_finite = [
        result
        for result in results
        if result.measurement is not None and result.measurement.statistics.finite is False
    ]
    rows = [_tensor_json(result) for result in (not_finite if options.not_finite else results)]
    if options.sort:
        rows.sort(key=lambda row: (row[options.sort] is not None, row[options.sort] or 0), reverse=True)
    print(as_json(rows) if options.json else _table(rows))
    if inferred:
        say(f"{inferred} tensors have recorded statistics only. Other columns are empty.")
    if undecided:
        say(f"It is unknown whether {undecided} of {len(results)} tensors are finite.")
    report_damage(damage)
    if len(unknown) == len(results):
        say(no_match(entries, options) or "No tensor could be measured.")
        return 2
    return 1 if not_finite or damage or undecided else 0


def _tensor_json(result: TensorResult) -> dict[str, Any]:
    measurement = result.measurement
    return {
        **result.columns(),
        "computed": result.computed,
        "finite": {"finite": True, "non_finite": False, "unknown": None}[finiteness(result)],
        **(asdict(measurement.statistics) if measurement else dict.fromkeys(_COLUMNS)),
    }


def _table(rows: Iterable[dict[str, Any]]) -> str:
    heads = (*_HEADS, "NAN", "INF", "-INF")
    keys = ("rank", "step", "operator", "direction", "slot", "dtype", "shape", *_COLUMNS)
    cells = (itemgetter(*keys)(row) for row in rows)
    shown = [[list(value) if isinstance(value, tuple) else value for value in row] for row in cells]
    return table(heads, shown, terminal_width())
