"""Claims about the ends of curves of good and bad runs: the values there, and ends before other runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.setting_separation import separations
from mindinsight.server.plugins.answers.non_finite import CHANCE
from mindinsight.server.store.run import Run

_NAMED: Final = 3  # scalars in a claim, or claims
_SHORTER: Final = 0.05  # share of the steps that the runs of one group lack at their end
_PAIRS: Final = 0.8  # share of pairs of a good and a bad run in which the same one is higher


@dataclass(frozen=True, slots=True)
class EndValues:
    """Medians of the last values of the good and the bad runs that are finite there, and their numbers."""

    good: float
    bad: float
    goods: int
    bads: int


def end_values(good: Sequence[Run], bad: Sequence[Run], tag: str, tests: int) -> EndValues | None:
    """Return the last values of a scalar in both groups if they differ beyond chance, one of ``tests`` tests,
    else None.

    Runs that end early, or not with a finite value, do not count.
    """
    lines = [
        [series.line() for run in group if (series := run.scalars.get(tag)) is not None]
        for group in (good, bad)
    ]
    steps = [line.steps for group in lines for line in group if len(line.steps)]
    if not steps:
        return None
    first, last = min(int(own[0]) for own in steps), max(int(own[-1]) for own in steps)
    least = last - _SHORTER * (last - first)
    ours, theirs = (
        [
            float(line.values[-1])
            for line in group
            if len(line.steps) and line.steps[-1] >= least and np.isfinite(line.values[-1])
        ]
        for group in lines
    )
    if not ours or not theirs or separations([ours], [theirs])[0].chance > CHANCE / tests:
        return None
    pairs = np.sign(np.array(theirs)[:, None] - np.array(ours)).mean()
    if abs(pairs) < 2 * _PAIRS - 1:
        return None
    return EndValues(float(np.median(ours)), float(np.median(theirs)), len(ours), len(theirs))


def end_claims(ends: Sequence[tuple[str, EndValues]]) -> Iterator[Claim]:
    """Yield claims about the last values of scalars, the largest relative difference first."""
    ranked = sorted(ends, key=lambda item: -abs(item[1].bad - item[1].good) / (abs(item[1].good) or 1.0))
    for tag, values in ranked[:_NAMED]:
        facts = {"tag": tag, "good": values.good, "goods": values.goods}
        yield Claim("claim.why.ends", "found", {**facts, "bad": values.bad, "bads": values.bads})


def end_of_common_steps(good: Sequence[Run], bad: Sequence[Run], tags: Sequence[str]) -> Iterator[Claim]:
    """Yield a claim about the last step that could be compared, if the runs of one group end before the
    others."""
    ends: list[dict[str, int]] = [{}, {}]
    starts = []
    for group, end in zip((good, bad), ends, strict=True):
        for tag in tags:
            lines = [series.line().steps for run in group if (series := run.scalars.get(tag)) is not None]
            known = [steps for steps in lines if len(steps)]
            starts += [int(steps[0]) for steps in known]
            end[tag] = max((int(steps[-1]) for steps in known), default=0)
    early = {
        tag: (ends[0][tag], ends[1][tag])
        for tag in tags
        if abs(ends[0][tag] - ends[1][tag]) > _SHORTER * (max(ends[0][tag], ends[1][tag]) - min(starts))
    }
    if not early:
        return
    tag, (ours, theirs) = max(early.items(), key=lambda entry: abs(entry[1][0] - entry[1][1]))
    step, last = sorted((ours, theirs))
    values = {"tags": few(sorted(early), _NAMED), "n": len(early), "step": step, "last": last}
    key = "claim.why.good_end_first" if ours < theirs else "claim.why.bad_end_first"
    yield Claim(key, "unknown", values, ({"tag": tag, "step": step},))
