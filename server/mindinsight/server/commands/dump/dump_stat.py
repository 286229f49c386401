"""Command ``mindinsight dump stat``: statistics of every tensor."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Final

from mindinsight.server.claims import Claim
from mindinsight.server.commands import terminal
from mindinsight.server.commands.dump import dump_selection
from mindinsight.server.commands.options import add_command, add_executor, add_flag
from mindinsight.server.debug.examine import TensorResult, finiteness, measure_all

_COLUMNS: Final = (
    *("minimum", "maximum", "mean", "std", "norm"),
    *("zeros", "nans", "positive_infs", "negative_infs"),
)
_KEYS: Final = ("rank", "step", "operator", "direction", "slot", "dtype", "shape", *_COLUMNS)


def register(actions: Any) -> None:
    """Add `mindinsight dump stat` to the actions."""
    parser = add_command(actions, "stat", run)
    dump_selection.add_selection(parser)
    add_executor(parser)
    add_flag(parser, "not-finite")
    parser.add_argument("--sort", choices=_COLUMNS)


@terminal.report_errors
def run(options: argparse.Namespace) -> int:
    """Print the statistics of selected tensors, and return 0 if all are finite, 1 if not, 2 if unknown. It is
    unknown for damage, without a dump, and if no tensor was selected or could be judged."""
    dump = dump_selection.open_single_dump(options.path, "stat")
    entries, damage = dump_selection.select_tensors(dump, options)
    with dump_selection.worker_pool(options.executor, options.path) as executor:
        measured = measure_all(entries, executor, dump_selection.statistics_cache())
        results = list(terminal.progress(measured, len(entries), "cli.progress.tensors_measured"))
    damage += [result.damage for result in results if result.damage is not None]
    unknown = [result for result in results if finiteness(result) == "unknown"]
    undecided = sum(result.damage is None for result in unknown)
    non_finite = [result for result in results if finiteness(result) == "non_finite"]
    rows = [_tensor_json(result) for result in (non_finite if options.not_finite else results)]
    if options.sort:
        rows.sort(key=lambda row: (row[options.sort] is not None, row[options.sort] or 0), reverse=True)
    print(terminal.as_json(rows) if options.json else _table(rows))
    for claim in statistics_claims(results):
        terminal.say(terminal.localize_claim(claim))
    terminal.report_damage(damage)
    if len(unknown) == len(results):
        terminal.say(terminal.localize("cli.dump.nothing_measured"))
        return 2
    return 1 if non_finite else 2 if damage or undecided else 0


def statistics_claims(results: Sequence[TensorResult]) -> list[Claim]:
    """Return the claims about tensors whose values are unknown, without those about damage."""
    recorded = sum(result.measurement is not None and not result.computed for result in results)
    undecided = sum(result.damage is None and finiteness(result) == "unknown" for result in results)
    counts = {"claim.dump.recorded_only": recorded, "claim.dump.finite_unknown": undecided}
    return [Claim(key, "unknown", {"n": n, "all": len(results)}) for key, n in counts.items() if n]


def _tensor_json(result: TensorResult) -> dict[str, Any]:
    measurement = result.measurement
    return {
        **result.columns(),
        "computed": result.computed,
        "damage": f"{result.damage.reason} {result.damage.detail}".strip() if result.damage else None,
        "finite": {"finite": True, "non_finite": False, "unknown": None}[finiteness(result)],
        **(asdict(measurement.statistics) if measurement else dict.fromkeys(_COLUMNS)),
    }


def _table(rows: Iterable[dict[str, Any]]) -> str:
    cells = (itemgetter(*_KEYS)(row) for row in rows)
    shown = [[list(value) if isinstance(value, tuple) else value for value in row] for row in cells]
    return terminal.table(terminal.heads(*_KEYS), shown, terminal.terminal_width())
