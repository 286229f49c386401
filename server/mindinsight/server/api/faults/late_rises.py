"""Claims about rises of losses that their levels do not show, and about steps that take longer."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mindinsight.server.api.faults.judged_curves import fault_claim
from mindinsight.server.claims import Claim
from mindinsight.server.curves.levels import LASTS, Levels, first_jump, levels_of
from mindinsight.server.curves.signs.rises import (
    ESCAPED,
    LATE,
    early_rise,
    escape,
    late_rise,
    slowdown,
)
from mindinsight.server.plugins.answers.rank_pace import is_rate, is_time
from mindinsight.server.store.run import Run


def late_rise_claim(run: Run, tag: str, levels: Levels) -> Claim | None:
    """Return the claim about a loss that rises at its very end, ends above where it began to explode, or
    falls far below zero, or None."""
    line = run.scalars[tag].line()
    if not np.isfinite(line.values[-1]):
        return None  # what it ends at is told of its NaN
    rise = late_rise(line.steps, line.values)
    if rise and first_jump(line.steps, line.values) is None:  # which is told
        facts = {"step": rise.step, "high": rise.high, "n": rise.before, "end": rise.end}
        return fault_claim("rises_late", run, tag, {"tag": tag, **facts, "of": LASTS, "limit": LATE})
    if early := early_rise(levels):
        facts = {"begin": early.begin, "peak": early.peak, "step": early.step, "end": early.end}
        return fault_claim("rises_early", run, tag, {"tag": tag, **facts})
    if (end := escape(levels)) is not None:
        facts = {"begin": levels.begin, "end": end, "limit": ESCAPED}
        return fault_claim("escapes", run, tag, {"tag": tag, **facts})
    return None


def slow_steps(run: Run) -> Iterator[Claim]:
    """Yield notes on times or rates of steps, by their names, that show slower steps from one of them on."""
    for tag, series in sorted(run.scalars.items()):
        if (
            not (is_time(tag) or is_rate(tag))
            or levels_of((line := series.line()).steps, line.values) is None
        ):
            continue
        with np.errstate(divide="ignore"):
            slow = slowdown(line.steps, 1 / line.values if is_rate(tag) else line.values)
        if slow is not None:
            facts = {"tag": tag, "step": slow.step, "factor": float(f"{slow.after / slow.before:.2g}")}
            yield replace(fault_claim("slower", run, tag, facts), verdict="note")
