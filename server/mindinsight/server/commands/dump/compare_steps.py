"""Option ``--every-step`` of ``mindinsight dump compare``: all steps of all ranks of two dumps."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from mindinsight.server.claims import Claim, exit_code, sentence
from mindinsight.server.commands.dump.selection import open_single_dump, worker_pool
from mindinsight.server.commands.messages import language, report_damage
from mindinsight.server.commands.terminal import (
    as_json,
    cell,
    count_text,
    progress,
    say,
    table,
    terminal_width,
)
from mindinsight.server.debug.compare.divergence import Outcome, Tolerance, decide
from mindinsight.server.debug.compare.report import CsvReport
from mindinsight.server.debug.compare.steps import (
    StepComparison,
    common_steps,
    compare_steps,
    decide_steps,
)
from mindinsight.server.formats.dumps.types import Dump, FileDamage

_HEADS: Final = ("RANK", "STEP", "TENSORS", "DIFFER", "FIRST DIFFERENCE")

_Write: TypeAlias = Callable[[StepComparison], None]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """Summary of one step of one rank."""

    rank: int
    step: int
    tensors: int
    outcome: Outcome

    @property
    def differing(self) -> int:
        return self.outcome.counts["differ"]

    @property
    def operator(self) -> str | None:
        """Operator of the first difference; None if there is none."""
        entry = self.outcome.first[0].compared.pair.target if self.outcome.first else None
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
    shown = [summary for summary in summaries if options.all or exit_code(summary.outcome.claims)]
    outcomes = {(summary.rank, summary.step): summary.outcome for summary in summaries}
    claims = decide_steps(outcomes, _unpaired(target, reference, options))
    print(_json(summaries, shown, claims) if options.json else _text(summaries, shown, claims))
    report_damage(damage)
    return exit_code(claims)


def _unpaired(target: Dump, reference: Dump, options: argparse.Namespace) -> list[tuple[int, int]]:
    """Rank and step of what only one dump has, as far as it was asked for."""
    steps = {(rank, step) for dump in (target, reference) for rank in dump.ranks for step in dump.steps(rank)}
    alone = steps - set(common_steps(target, reference))
    return sorted(
        (rank, step) for rank, step in alone if options.rank in (None, rank) and options.step in (None, step)
    )


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
    return StepSummary(
        comparison.rank, comparison.step, len(rows), decide(rows, tolerance, comparison.unlisted)
    )


def _text(summaries: Sequence[StepSummary], shown: Sequence[StepSummary], claims: Sequence[Claim]) -> str:
    cells = [
        (summary.rank, summary.step, summary.tensors, summary.differing, summary.operator or "-")
        for summary in shown
    ]
    lines = [table(_HEADS, cells, terminal_width())] if shown else []
    ranks = len({summary.rank for summary in summaries})
    tensors = sum(summary.tensors for summary in summaries)
    counts = (count_text(len(summaries), "step"), count_text(ranks, "rank"), count_text(tensors, "tensor"))
    lines.append("{} of {}, {}.".format(*counts))
    texts = [sentence(claim, language(os.environ), cell) for claim in claims]
    return "\n".join([*lines, *texts])


def _json(summaries: Sequence[StepSummary], shown: Sequence[StepSummary], claims: Sequence[Claim]) -> str:
    return as_json(
        {
            "claims": [claim.as_json() for claim in claims],
            "steps": len(summaries),
            "tensors": sum(summary.tensors for summary in summaries),
            "differing": [
                {
                    "rank": summary.rank,
                    "step": summary.step,
                    "tensors": summary.tensors,
                    "differing": summary.differing,
                    "operator": summary.operator,
                }
                for summary in shown
            ],
        }
    )
