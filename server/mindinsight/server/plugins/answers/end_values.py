"""Claims about short curves and the ends of curves of good and bad runs: values there, and earlier ends."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.setting_separation import separations
from mindinsight.server.plugins.answers.non_finite import CHANCE
from mindinsight.server.store.run import Run

_NAMED: Final = 3  # scalars in a claim, or claims
_SHORTER: Final = 0.05  # share of the steps that the runs of one group lack at their end
_SHORT: Final = 64  # common steps up to which values are compared step by step
_PAIRS: Final = 0.8  # share of pairs of a good and a bad run in which the same one is higher


@dataclass(frozen=True, slots=True)
class EndValues:
    """Medians of the last values of good and of bad runs, and the numbers of runs with a finite one."""

    good: float
    bad: float
    goods: int
    bads: int


@dataclass(frozen=True, slots=True)
class Since:
    """Step from which the values of good and bad runs differ up to the last common step."""

    step: int
    count: int  # common steps from there on
    steps: int  # all common steps
    good: float  # medians at the last of them
    bad: float
    goods: int  # runs with a finite value there
    bads: int
    good_runs: int  # runs that recorded the scalar
    bad_runs: int


def values_since(good: Sequence[Run], bad: Sequence[Run], tag: str, tests: int) -> Since | None:
    """Return the step from which a scalar with few steps differs significantly between good and bad runs,
    with the medians at the last common step. Return None if the values do not differ there, or if the groups
    have more than 64 steps in common.

    From that step on, the same group is mostly higher at each step. ``tests`` scalars are compared, each at
    all steps at which both groups have finite values. Runs that end before the last step are left out, or a
    difference could begin where they end.
    """
    recorded = [
        [dict(zip(line.steps.tolist(), line.values.tolist(), strict=True)) for line in lines]
        for lines in (
            [run.scalars[tag].line() for run in group if tag in run.scalars] for group in (good, bad)
        )
    ]
    last = min(max((max(run, default=-1) for run in group), default=-1) for group in recorded)
    ours, theirs = ([run for run in group if max(run, default=-1) >= last] for group in recorded)
    steps = sorted({step for run in ours for step in run} & {step for run in theirs for step in run})
    if len(steps) > _SHORT:
        return None
    at = {
        step: [[run[step] for run in group if isfinite(run.get(step, nan))] for group in (ours, theirs)]
        for step in steps
    }
    common = [step for step in steps if all(at[step])]
    first, sign = len(common), 0.0
    for number in reversed(range(len(common))):
        higher = _side(at[common[number]][0], at[common[number]][1], tests * len(common))
        if not higher or higher == -sign:
            break
        first, sign = number, higher
    if first == len(common):
        return None
    ends = at[common[-1]]
    ours_end, theirs_end = (float(np.median(values)) for values in ends)
    counts = [*map(len, ends), *map(len, recorded)]
    return Since(common[first], len(common) - first, len(common), ours_end, theirs_end, *counts)


def _side(ours: Sequence[float], theirs: Sequence[float], tests: int) -> float:
    """Return 1 if ``theirs`` are significantly higher, -1 if lower, 0 otherwise. One of ``tests`` tests."""
    if separations([ours], [theirs])[0].chance > CHANCE / tests:
        return 0.0
    pairs = float(np.sign(np.array(theirs)[:, None] - np.array(ours)).mean())
    return float(np.sign(pairs)) if abs(pairs) >= 2 * _PAIRS - 1 else 0.0


def since_claims(rows: Sequence[tuple[str, Since]]) -> Iterator[Claim]:
    """Yield up to three claims about the steps from which scalars with few steps differ, the earliest
    first."""
    for tag, since in sorted(rows, key=lambda row: (row[1].step, row[0]))[:_NAMED]:
        values = {"tag": tag, "n": since.count, **asdict(since)}
        key = "claim.why.since_first" if since.count == since.steps else "claim.why.since"
        yield Claim(key, "found", values, ({"tag": tag, "step": since.step},))


def end_values(good: Sequence[Run], bad: Sequence[Run], tag: str, tests: int) -> EndValues | None:
    """Return the medians of a scalar's last values in both groups if the values differ significantly, else
    None. Runs that end early, or not with a finite value, are left out. None also if a group has no other
    run. ``tests`` is the number of tests, of which this is one."""
    ours, theirs = _values_at_end(good, bad, tag, common=False)
    return _medians(ours, theirs) if ours and theirs and _side(ours, theirs, tests) else None


def common_end_values(good: Sequence[Run], bad: Sequence[Run], tag: str) -> EndValues | None:
    """Return the medians of a scalar in both groups at the last step that both reach, even if they are
    alike. Return None if a group has no other run. Runs that end well before that step, or have no finite
    value there, are left out."""
    ours, theirs = _values_at_end(good, bad, tag, common=True)
    return _medians(ours, theirs) if ours and theirs else None


def _medians(ours: Sequence[float], theirs: Sequence[float]) -> EndValues:
    return EndValues(float(np.median(ours)), float(np.median(theirs)), len(ours), len(theirs))


def _values_at_end(
    good: Sequence[Run], bad: Sequence[Run], tag: str, common: bool
) -> tuple[list[float], list[float]]:
    """Return the finite values of both groups at the last step, with ``common`` at the last that both groups
    reach."""
    lines = [
        [line for run in group if (series := run.scalars.get(tag)) and len((line := series.line()).steps)]
        for group in (good, bad)
    ]
    if not all(lines):
        return [], []
    first = min(int(line.steps[0]) for group in lines for line in group)
    last = (min if common else max)(max(int(line.steps[-1]) for line in group) for group in lines)
    least = last - _SHORTER * (last - first)
    ours, theirs = (
        [
            float(line.values[at])
            for line in group
            if line.steps[-1] >= least
            and (at := int(np.searchsorted(line.steps, last, "right")) - 1) >= 0
            and np.isfinite(line.values[at])
        ]
        for group in lines
    )
    return ours, theirs


def end_claims(ends: Sequence[tuple[str, EndValues]]) -> Iterator[Claim]:
    """Yield up to three claims about the last values of scalars, the largest relative difference first."""
    ranked = sorted(ends, key=lambda item: -abs(item[1].bad - item[1].good) / (abs(item[1].good) or 1.0))
    for tag, values in ranked[:_NAMED]:
        facts = {"tag": tag, "good": values.good, "goods": values.goods}
        yield Claim("claim.why.ends", "found", {**facts, "bad": values.bad, "bads": values.bads})


def end_of_common_steps(good: Sequence[Run], bad: Sequence[Run], tags: Sequence[str]) -> Iterator[Claim]:
    """Yield a claim about the last step that could be compared, if one group ends well before the other."""
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


def length_claims(good: Sequence[Run], bad: Sequence[Run]) -> Iterator[Claim]:
    """Yield the claim that the runs of one group all end before those of the other do, by more than
    chance. Yield nothing if a run of the shorter group failed or ended with a non-finite value, or if a
    run has no step. A run that failed ended early because it is bad."""
    lasts = [[_last_step(run) for run in group] for group in (good, bad)]
    ends = [[step for step in group if step is not None] for group in lasts]
    if not all(ends) or [*map(len, ends)] != [len(good), len(bad)]:
        return
    shorter = int(max(ends[1]) < min(ends[0]))
    longest, least = max(ends[shorter]), min(ends[1 - shorter])
    if least - longest <= _SHORTER * least or separations([ends[0]], [ends[1]])[0].corrected > CHANCE:
        return
    if any(_failed(run) for run in (good, bad)[shorter]):
        return
    facts = {"good": len(good), "bad": len(bad), "step": longest, "least": least}
    yield Claim(f"claim.why.{'bad' if shorter else 'good'}_shorter", "found", facts)


def _last_step(run: Run) -> int | None:
    steps = [line.steps[-1] for series in run.scalars.values() if len((line := series.line()).steps)]
    return int(max(steps)) if steps else None


def _failed(run: Run) -> bool:
    """Return True if a run ended with an exception, or a scalar with a non-finite value."""
    lasts = (series.last_value for series in run.scalars.values())
    return bool(run.failure) or any(value is not None and not isfinite(value) for value in lasts)
