"""Anomaly of one rank's curve, and the measures of its size, growth and period."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.curves.bands import FEWEST_STEPS, NOT_ZERO, column_medians, row_medians
from mindinsight.server.curves.overflow_safe import LARGEST
from mindinsight.server.types import Doubles, Ints

FEWEST_LASTING: Final = 4  # columns in a row that are no spike
_NOISIER: Final = 2.0  # times the larger changes of a usual curve, which half of the changes exceed
# Share of the size, so that a curve is not noisier than equal ones by its rounding.
_LEAST_NOISE: Final = 1e-4
_SAME_FACTOR: Final = 0.5  # share of a factor that half of the shares lie within
_SHARE_LIMIT: Final = 1e300  # times the median, above which a share is cut off: its percent must be finite
_PLENTY: Final = 10  # times the median; more is told as a factor, because percent are hard to read
_PERIOD_CHANCE: Final = 0.02  # probability below which equal gaps between spikes are a period

OutlierKind: TypeAlias = Literal["not_finite", "silent", "lasting", "spikes"]


@dataclass(frozen=True, slots=True)
class RankOutlier:
    """Anomaly of one rank's curve."""

    row: int  # number of the curve
    kind: OutlierKind
    step: int  # first step
    last_step: int | None = None  # lasting: last step, None if it continues
    relative: float | None = None  # lasting and spikes: usual or largest share of the median, None if it is 0
    count: int = 1  # number of spikes or of non-finite steps
    period: int | None = None  # spikes: steps between them if they are regular
    end: float | None = None  # lasting, and growing: difference / size of the median at the last steps
    other: int | None = None  # lasting, of two curves: the other one, as it is unknown which is wrong
    both_sides: bool = False  # lasting: the differences lie on both sides, and `relative` is their usual size
    shared: bool = False  # non-finite: at steps at which most curves are
    followers: int = 0  # non-finite, or one jump: curves that do so later, if most have then
    followed: int | None = None  # the same: first step of the last of the followers


def share_of(difference: Doubles, centre: Doubles) -> float | None:
    """Return the typical ratio of ``difference`` [n] to the size of ``centre`` [n], or None if ``centre``
    is all 0. It is the median ratio if ``centre`` stays away from 0 or the ratios are about equal,
    otherwise the median difference divided by the mean size."""
    sizes = np.abs(centre)
    size = float(np.nanmean(sizes))
    if not size:
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shares = np.clip(difference / sizes, -LARGEST, LARGEST)
        low, middle, high = np.nanquantile(shares / 4, (0.25, 0.5, 0.75)) * 4  # differences stay finite
        is_factor = high / 4 - low / 4 < _SAME_FACTOR * abs(middle) / 4
        if float(np.nanmin(sizes)) <= NOT_ZERO * size and not is_factor:
            middle = np.float64(np.nanmedian(difference)) / size
    return float(np.clip(middle, -LARGEST, LARGEST))


def noisier_rows(values: Doubles) -> frozenset[int]:
    """Return the rows of curves [r, c] that fluctuate about the median far more than the others. The
    median change of such a row exceeds twice the 90th percentile of the changes of a usual row. Empty for
    fewer than three curves."""
    known = np.flatnonzero((~np.isnan(values)).sum(axis=1) >= FEWEST_STEPS)
    if len(known) < 3:
        return frozenset()
    centre = column_medians(values[known])
    changes = np.abs(np.diff(values[known] - centre, axis=1))
    some = (~np.isnan(changes)).sum(axis=1) >= FEWEST_STEPS // 2
    if int(some.sum()) < 3:
        return frozenset()
    usual = float(np.median(np.nanquantile(changes[some], 0.9, axis=1)))
    limit = _NOISIER * max(usual, _LEAST_NOISE * float(np.nanmedian(np.abs(centre))))
    return frozenset(known[some][row_medians(changes[some]) > limit].tolist())


def growth(shares: Doubles) -> float | None:
    """Return the median of the last fifth of ``shares`` [n] if the medians of the fifths rise towards it and
    more than double, or None."""
    parts = np.array_split(shares, 5)
    if len(shares) < FEWEST_STEPS or any(np.isnan(part).all() for part in parts):
        return None
    fifths = np.array([float(np.nanmedian(part)) for part in parts])
    towards = fifths * np.sign(fifths[-1])
    return float(fifths[-1]) if (np.diff(towards) > 0).all() and towards[-1] > 2 * towards[1] else None


_JUMP: Final = 10.0  # times the largest value before: noise and ordinary spikes stay below
_FOLLOW: Final = 3  # columns within which the others jump, too: an update reaches them after one


@dataclass(frozen=True, slots=True)
class CommonJump:
    """Jump of most curves to ten times all values before."""

    column: int  # the first one at which a curve jumps
    leaders: tuple[int, ...]  # rows that jump there, if they are less than half of those that do
    followed: int  # column at which the last of the others jumps


def common_jump(values: Doubles) -> CommonJump | None:
    """Return the first jump that most of the curves ``values`` [r, c] share within three columns, or None.
    What curves do after it tells nothing of one of them."""
    sizes = np.nan_to_num(np.abs(values))
    before = np.maximum.accumulate(sizes, axis=1)[:, :-1]
    jumps = (sizes[:, 1:] > _JUMP * before) & (before > 0)
    jumps[:, : FEWEST_STEPS // 2] = False
    rows = np.flatnonzero(jumps.any(axis=1))
    firsts = np.argmax(jumps[rows], axis=1) + 1
    if not len(rows):
        return None
    near = firsts <= firsts.min() + _FOLLOW
    if 2 * int(near.sum()) <= len(values):
        return None
    lead = firsts == firsts.min()
    leaders = tuple(rows[lead].tolist()) if 2 * int(lead.sum()) < int(near.sum()) else ()
    return CommonJump(int(firsts.min()), leaders, int(firsts[near].max()))


def period_of(steps: Ints, width: float) -> int | None:
    """Return the number of steps between events if they are periodic, else None. Events are periodic if
    their gaps are closer to multiples of one number than is likely by chance. Fewer than three are not.
    ``width`` is the resolution of ``steps``, ascending."""
    if len(steps) < 3:
        return None
    gaps = np.diff(steps.astype(np.float64))
    usual = float(np.median(gaps))
    away = float(np.max(np.abs(gaps - np.maximum(np.round(gaps / usual), 1) * usual)))
    by_chance = min((4 * away + width) / usual, 1.0) ** (len(gaps) - 1)
    return round(usual) if by_chance <= _PERIOD_CHANCE else None


def row_evidence(ranks: Sequence[int | None], rows: Sequence[int]) -> tuple[dict[str, Any], ...]:
    """Return the evidence of a claim about ``rows`` of curves, {"row": row, "rank": rank or None} for each.
    ``ranks`` [r] are those of all curves."""
    return tuple({"row": row, "rank": ranks[row]} for row in rows)


def outlier_claim(stray: RankOutlier, ranks: Sequence[int | None] = ()) -> Claim:
    """Return the claim about an anomaly: of one curve, or of two that differ from each other. ``ranks``
    [r] are those of the curves, for its evidence."""
    rows = [stray.row] if stray.other is None else [stray.row, stray.other]
    evidence = row_evidence(ranks, rows) if ranks else ()
    facts: dict[str, Any] = {"step": stray.step}
    if stray.kind in ("lasting", "spikes"):
        facts["by"] = amount_claim(stray.relative, stray.both_sides)
    if stray.end is not None and stray.other is None:
        return Claim("claim.rank.grows", "found", {**facts, "by": amount_claim(stray.end)}, evidence)
    if stray.kind == "lasting":
        ended = stray.last_step is not None
        facts |= {"last": stray.last_step} if ended else {}
        name = "pair" if stray.other is not None else "differs"
        return Claim(f"claim.rank.{name}_until" if ended else f"claim.rank.{name}", "found", facts, evidence)
    if stray.kind == "silent":
        return Claim("claim.rank.silent", "found", facts, evidence)
    facts["n"] = stray.count
    if stray.followers:
        facts |= {"ranks": stray.followers, "last": stray.followed}
        if stray.kind == "spikes":
            return Claim("claim.rank.jump_before", "found", {**facts, "n": stray.followers}, evidence)
        return Claim("claim.rank.non_finite_before", "found", facts, evidence)
    if stray.kind == "not_finite":
        name = "non_finite_shared" if stray.shared else "non_finite"
        return Claim(f"claim.rank.{name}", "found", facts, evidence)
    if stray.period is not None:
        return Claim("claim.rank.spikes_every", "found", {**facts, "period": stray.period}, evidence)
    return Claim("claim.rank.spikes", "found", facts, evidence)


def amount_claim(relative: float | None, both_sides: bool = False) -> Claim:
    """Return a difference from the median as part of a claim: 0.5 is 50 % more, 12 is 13 times the median.
    ``relative`` is the share of the median, or None if the median is 0. With ``both_sides`` no direction
    is named."""
    if relative is None:
        return Claim("claim.part.rank_from_zero", "note")
    relative = min(max(relative, -_SHARE_LIMIT), _SHARE_LIMIT)
    if relative >= _PLENTY and not both_sides:
        return Claim("claim.part.rank_times", "note", {"times": float(f"{1 + relative:.2g}")})
    name = "either" if both_sides else "less" if relative < 0 else "more"
    percent = float(f"{100 * abs(relative):.2g}")
    return Claim(f"claim.part.rank_{name}", "note", {"percent": percent})
