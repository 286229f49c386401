"""Option ``--every-step`` of ``mindinsight dump compare``: all steps of all ranks of two dumps."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from mindinsight.server.commands.dump.selection import open_single_dump, worker_pool
from mindinsight.server.commands.messages import report_damage
from mindinsight.server.commands.terminal import as_json, progress, say, table, terminal_width
from mindinsight.server.debug.compare.comparison import Row
from mindinsight.server.debug.compare.divergence import Divergence, Tolerance, beyond, first_divergence
from mindinsight.server.debug.compare.report import CsvReport
from mindinsight.server.debug.compare.steps import StepComparison, common_steps, compare_steps
from mindinsight.server.formats.dumps.types import Dump, FileDamage

_HEADS: Final = ("RANK", "STEP", "TENSORS", "DIFFER", "KIND", "FIRST DIVERGENCE")

_Write: TypeAlias = Callable[[StepComparison], None]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """Summary of one step of one rank."""

    rank: int
    step: int
    tensors: int
    differing: int
    divergence: Divergence | None

    @property
    def operator(self) -> str | None:
        entry = self.divergence.rows[0].compared.pair.target if self.divergence else None
        return entry.operator if entry else None


def compare_every_step(options: argparse.Namespace, names: Mapping[str, str], tolerance: Tolerance) -> int:
    """Compare, print a line for each step that differs, and return the exit code of ``dump compare``."""
    if options.msprobe or options.reference_rank is not None or options.reference_step is not None:
        raise ValueError("--every-step cannot be combined with --msprobe, --reference-rank, --reference-step")
    target, reference = open_single_dump(options.target), open_single_dump(options.reference)
    steps = _wanted(target, reference, options)
    summaries: list[StepSummary] = []
    damage: list[FileDamage] = [*target.damage, *reference.damage]
    with _csv_report(options.csv) as write, _pool(options) as executor:
        comparisons = compare_steps(target, reference, steps, names, executor)
        for comparison in progress(comparisons, len(steps), "steps compared"):
            write(comparison)
            summaries.append(_summary(comparison, tolerance))
            damage += comparison.damage
    if options.csv:
        say(f"{sum(summary.tensors for summary in summaries)} rows written to {options.csv}")
    shown = [summary for summary in summaries if options.all or summary.differing]
    print(_json(summaries, shown) if options.json else _text(summaries, shown))
    report_damage(damage)
    return 1 if damage or any(summary.differing or summary.divergence for summary in summaries) else 0


def _wanted(target: Dump, reference: Dump, options: argparse.Namespace) -> list[tuple[int, int]]:
    steps = [
        (rank, step)
        for rank, step in common_steps(target, reference)
        if options.rank in (None, rank) and options.step in (None, step)
    ]
    if not steps:
        raise ValueError("the two dumps have no rank and step in common" + _choice(options))
    return steps


def _choice(options: argparse.Namespace) -> str:
    chosen = [
        f"{name} {getattr(options, name)}" for name in ("rank", "step") if getattr(options, name) is not None
    ]
    return f" ({', '.join(chosen)})" if chosen else ""


def _pool(options: argparse.Namespace) -> Any:
    return worker_pool(options.executor, options.target, options.reference)


@contextlib.contextmanager
def _csv_report(path: Path | None) -> Iterator[_Write]:
    """A function that adds the rows of a step to a file; without a path it does nothing."""
    if path is None:
        yield lambda comparison: None
        return
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        report = CsvReport(file)
        yield lambda comparison: report.write(comparison.rows, rank=comparison.rank, step=comparison.step)


def _summary(comparison: StepComparison, tolerance: Tolerance) -> StepSummary:
    rows = comparison.rows
    differing = sum(_differs(row, tolerance) for row in rows)
    return StepSummary(
        comparison.rank, comparison.step, len(rows), differing, first_divergence(rows, tolerance)
    )


def _differs(row: Row, tolerance: Tolerance) -> bool:
    return bool(beyond(row, tolerance)) or row.level == "error"


def _text(summaries: Sequence[StepSummary], shown: Sequence[StepSummary]) -> str:
    lines = []
    if shown:
        cells = [
            (
                summary.rank,
                summary.step,
                summary.tensors,
                summary.differing,
                summary.divergence.kind if summary.divergence else "-",
                summary.operator or "-",
            )
            for summary in shown
        ]
        lines.append(table(_HEADS, cells, terminal_width()))
    ranks = len({summary.rank for summary in summaries})
    tensors = sum(summary.tensors for summary in summaries)
    differing = [summary for summary in summaries if summary.differing]
    lines.append(
        f"{len(summaries)} steps of {ranks} ranks, {tensors} tensors: {len(differing)} steps differ."
    )
    first = min(
        (summary for summary in summaries if summary.divergence),
        key=lambda summary: (summary.step, summary.rank),
        default=None,
    )
    if first is None:
        lines.append("They agree within the tolerance." if not differing else "No operator diverges.")
    else:
        lines.append(f"They diverge first at step {first.step}, rank {first.rank}: {first.operator}.")
    return "\n".join(lines)


def _json(summaries: Sequence[StepSummary], shown: Sequence[StepSummary]) -> str:
    return as_json(
        {
            "steps": len(summaries),
            "tensors": sum(summary.tensors for summary in summaries),
            "differing": [
                {
                    "rank": summary.rank,
                    "step": summary.step,
                    "tensors": summary.tensors,
                    "differing": summary.differing,
                    "first_divergence": summary.divergence
                    and {"kind": summary.divergence.kind, "operator": summary.operator},
                }
                for summary in shown
            ],
        }
    )
