"""Command ``mindinsight dump compare``: compares two dumps, ranks or steps."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mindinsight.server.commands.dump.selection import add_json, open_single_dump, worker_pool
from mindinsight.server.commands.messages import report_damage, report_errors
from mindinsight.server.commands.options import add_executor, resolve_path
from mindinsight.server.commands.terminal import as_json, progress, say, table, terminal_width
from mindinsight.server.debug.compare.comparison import Row, Side, compare_sides, lost_first
from mindinsight.server.debug.compare.divergence import (
    COSINE,
    RELATIVE,
    Divergence,
    Tolerance,
    beyond,
    first_divergence,
)
from mindinsight.server.debug.compare.msprobe_report import (
    has_xlsx,
    write_msprobe_csv,
    write_msprobe_xlsx,
)
from mindinsight.server.debug.compare.report import fields, write_csv
from mindinsight.server.errors import BadSettings

_COLUMNS: Final = {
    "target": "TENSOR",
    "matched_by": "BY",
    "lost": "LOST",
    "cosine": "COSINE",
    "max_absolute": "MAX ABS",
    "max_relative": "MAX REL",
    "one_thousandth": "<0.001",
    "five_thousandths": "<0.005",
    "norm_error": "NORM ERR",
    "result": "RESULT",
}


def register(actions: Any) -> None:
    text = "compare two dumps tensor by tensor and find the first operator where they diverge"
    parser = actions.add_parser("compare", help=text, description=text, allow_abbrev=False)
    parser.add_argument("target", metavar="DUMP", type=resolve_path, help="directory of the dump to check")
    parser.add_argument(
        "reference",
        metavar="REFERENCE",
        type=resolve_path,
        help="directory of the correct dump; may be the same",
    )
    for side in ("", "reference-"):
        parser.add_argument(f"--{side}rank", type=int, help="default: the first, or that of the target")
        parser.add_argument(f"--{side}step", type=int, help="default: the first, or that of the target")
    text = "compare every step of every rank that both have; with --rank or --step, every one of those"
    parser.add_argument("--every-step", action="store_true", help=text)
    parser.add_argument(
        "--map",
        type=Path,
        help="mapping of operators to names in the reference: a JSON object, or CSV with two columns",
    )
    parser.add_argument(
        "--cosine", type=float, default=COSINE, help="smallest cosine of tensors that agree (%(default)s)"
    )
    parser.add_argument(
        "--relative",
        type=float,
        default=RELATIVE,
        help="largest relative distance of tensors that agree (%(default)s)",
    )
    parser.add_argument("--csv", type=Path, help="write the whole report to this file")
    text = "write a report with the columns of msprobe to this file, CSV or .xlsx"
    parser.add_argument("--msprobe", type=Path, help=text)
    parser.add_argument("--all", action="store_true", help="print all tensors, not only those that differ")
    add_json(parser)
    add_executor(parser)
    parser.set_defaults(run=run)


@report_errors
def run(options: argparse.Namespace) -> int:
    """0: they agree. 1: they differ beyond the tolerance or by a verdict, or cannot be read. 2: no dump."""
    if options.every_step:
        from mindinsight.server.commands.dump.compare_steps import compare_every_step

        names = read_names(options.map) if options.map else {}
        return compare_every_step(options, names, Tolerance(options.cosine, options.relative))
    target, reference = _sides(options)
    count = len(target.entries())
    if not count or not reference.entries():
        raise ValueError(f"one of the two has no tensors at rank {target.rank}, step {target.step}")
    names = read_names(options.map) if options.map else {}
    with worker_pool(options.executor, options.target, options.reference) as executor:
        comparison = compare_sides(target, reference, names, executor)
        rows = list(progress(comparison, count, "tensors compared"))
    tolerance = Tolerance(options.cosine, options.relative)
    divergence = first_divergence(rows, tolerance)
    differing = [row for row in rows if beyond(row, tolerance) or row.level == "error"]
    if options.csv:
        with options.csv.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            write_csv(rows, file)
        say(f"{len(rows)} rows written to {options.csv}")
    if options.msprobe:
        _write_msprobe(rows, options.msprobe)
    shown = lost_first(rows if options.all else differing)
    print(_json(shown, divergence) if options.json else _text(shown, rows, divergence))
    damage = [*target.damage(), *reference.damage()]
    damage += [row.compared.damage for row in rows if row.compared.damage is not None]
    report_damage(damage)
    return 1 if divergence or differing or damage else 0


def _write_msprobe(rows: Sequence[Row], path: Path) -> None:
    """Write the report with msprobe's columns. Raises BadSettings where the package for Excel is missing."""
    if path.suffix.lower() == ".xlsx":
        if not has_xlsx():
            raise BadSettings("an Excel file needs a package: pip install 'mindinsight[excel]'")
        with path.open("wb") as book:
            write_msprobe_xlsx(rows, book)
    else:
        with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            write_msprobe_csv(rows, file)
    say(f"{len(rows)} rows written to {path}")


def read_names(path: Path) -> Mapping[str, str]:
    """Read a mapping file: a JSON object of names, or CSV lines ``name,name in the reference``."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        names = json.loads(text)
        if not all(isinstance(name, str) for name in names.values()):
            raise ValueError(f"{path}: every value must be the name of an operator")
        return dict(names)
    rows = [row for row in csv.reader(text.splitlines()) if row]
    if any(len(row) != 2 for row in rows):
        raise ValueError(f"{path}: every line must be a name, a comma and a name")
    return {name.strip(): reference_name.strip() for name, reference_name in rows}


def _sides(options: argparse.Namespace) -> tuple[Side, Side]:
    target = _side(options.target, options.rank, options.step)
    rank = options.rank if options.reference_rank is None else options.reference_rank
    step = options.step if options.reference_step is None else options.reference_step
    return target, _side(options.reference, rank, step)


def _side(path: Path, rank: int | None, step: int | None) -> Side:
    dump = open_single_dump(path)
    if not dump.folders:
        raise ValueError(f"{path} holds no tensors")
    rank = dump.ranks[0] if rank is None else rank
    steps = dump.steps(rank)
    if not steps:
        raise ValueError(f"{path} has no rank {rank}; it has {', '.join(map(str, dump.ranks))}")
    return Side(dump, rank, steps[0] if step is None else step)


def _text(shown: Sequence[Row], rows: Sequence[Row], divergence: Divergence | None) -> str:
    counts = {level: sum(row.level == level for row in rows) for level in ("pass", "warning", "error")}
    unmatched = sum(None in (row.compared.pair.target, row.compared.pair.reference) for row in rows)
    lines = (
        [
            table(
                list(_COLUMNS.values()),
                [[fields(row)[name] for name in _COLUMNS] for row in shown],
                terminal_width(),
            )
        ]
        if shown
        else []
    )
    levels = ", ".join(f"{count} {level}" for level, count in counts.items())
    lines.append(f"{len(rows)} tensors: {levels}; {unmatched} on one side only.")
    newly_non_finite = sum(bool(row.lost) or "not_finite" in row.codes for row in rows)
    if newly_non_finite:
        lines.append(
            f"Tensors with NaN or infinities (LOST) where the reference is finite: {newly_non_finite}."
        )
    if divergence is None:
        return "\n".join([*lines, "They agree within the tolerance."])
    entry = divergence.rows[0].compared.pair.target
    name = entry.operator if entry else ""
    if divergence.kind == "made":
        return "\n".join([*lines, f"They diverge at {name}: its inputs agree, its outputs do not."])
    return "\n".join(
        [*lines, f"They differ before any operator: {name} is the first with a differing input."]
    )


def _json(shown: Sequence[Row], divergence: Divergence | None) -> str:
    first = None
    if divergence is not None:
        first = {"kind": divergence.kind, "tensors": [fields(row)["target"] for row in divergence.rows]}
    rows = [fields(row) | {"codes": row.codes, "measures": _measures(row)} for row in shown]
    return as_json({"first_divergence": first, "tensors": rows})


def _measures(row: Row) -> dict[str, Any] | None:
    return asdict(row.compared.measures) if row.compared.measures else None
