"""``mindinsight dump stat``: statistics of every tensor."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Final

from mindinsight.server.commands.dump.selection import add_selection, cache, open_one, selected, workers
from mindinsight.server.commands.messages import complain, telling
from mindinsight.server.commands.terminal import as_json, progress, room, say, table
from mindinsight.server.debug.examine import Answer, measure_all
from mindinsight.server.debug.finiteness import finiteness

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
    text = "minimum, maximum, mean, deviation, norm and counts of every tensor; of the finite elements"
    parser = actions.add_parser("stat", help=text, description=text, allow_abbrev=False)
    add_selection(parser)
    parser.add_argument("--not-finite", action="store_true", help="only tensors with NaN or infinities")
    parser.add_argument("--sort", choices=_COLUMNS, help="largest first instead of in the order they ran")
    parser.set_defaults(run=run)


@telling
def run(options: argparse.Namespace) -> int:
    """0: all finite. 1: some tensors are not, or nobody can tell. 2: no dump, or nothing to measure in it."""
    dump = open_one(options.path)
    entries, damage = selected(dump, options)
    with workers() as executor:
        answers = list(progress(measure_all(entries, executor, cache()), len(entries), "tensors measured"))
    damage += [answer.damage for answer in answers if answer.damage is not None]
    unknown = [answer for answer in answers if finiteness(answer) == "unknown"]
    untold = sum(answer.damage is None for answer in unknown)
    presumed = sum(answer.measured is not None and not answer.computed for answer in answers)
    lost = [a for a in answers if a.measured is not None and a.measured.statistics.finite is False]
    rows = [_fields(answer) for answer in (lost if options.not_finite else answers)]
    if options.sort:
        rows.sort(key=lambda row: (row[options.sort] is not None, row[options.sort] or 0), reverse=True)
    print(as_json(rows) if options.json else _table(rows))
    if presumed:
        say(f"{presumed} tensors have statistics only; what those do not tell is left empty.")
    if untold:
        say(f"Of {untold} of {len(answers)} tensors it is not known whether they are finite.")
    complain(damage)
    if len(unknown) == len(answers):
        say("No tensor could be measured.")
        return 2
    return 1 if lost or damage or untold else 0


def _fields(answer: Answer) -> dict[str, Any]:
    entry, measured = answer.entry, answer.measured
    return {
        "rank": entry.rank,
        "step": entry.step,
        "graph": entry.graph,
        "operator": entry.operator,
        "type": entry.type,
        "direction": entry.direction,
        "slot": entry.slot,
        "dtype": entry.dtype or (measured.dtype if measured else None),
        "shape": measured.shape if measured else entry.shape,
        "computed": answer.computed,
        "finite": {"finite": True, "not_finite": False, "unknown": None}[finiteness(answer)],
        **(asdict(measured.statistics) if measured else dict.fromkeys(_COLUMNS)),
    }


def _table(rows: Iterable[dict[str, Any]]) -> str:
    heads = (*_HEADS, "NAN", "INF", "-INF")
    keys = ("rank", "step", "operator", "direction", "slot", "dtype", "shape", *_COLUMNS)
    return table(heads, [_listed(itemgetter(*keys)(row)) for row in rows], room())


def _listed(values: tuple[object, ...]) -> list[object]:
    return [list(value) if isinstance(value, tuple) else value for value in values]
