"""Pace of the ranks of a job: whose steps take longer than those of the median rank, and by how much."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.bands import FEWEST_STEPS
from mindinsight.server.curves.rank_anomaly import RankOutlier
from mindinsight.server.curves.rank_outliers import judge
from mindinsight.server.store.run import Run
from mindinsight.server.types import Doubles, Ints

_NAMED: Final = 8  # ranks that are named; the count tells how many there are
_LEAST_PACE: Final = 0.01  # s: shorter steps are recorded at times that depend on the writer
_STALL: Final = 4.0  # share of one step: what comes between now and then takes less than five times as long
_LEAST_SLOWER: Final = 0.05  # share: less may be due to the load, or to when in a step a rank records
_TIME: Final = re.compile(
    r"(step|iter(ation)?|batch)[_/.-]?(time|duration|seconds|ms)"
    r"|(time|seconds|ms)(_per_|[/._-])(step|it(er(ation)?)?|batch)",
    re.IGNORECASE,
)
_RATE: Final = re.compile(
    r"throughput|(token|sample|step|it|iteration|image|example)s?_?(per_?|/)s", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SlowRank:
    """Rank whose steps take longer than those of the median rank."""

    row: int
    share: float  # 0.6 for 60 % longer
    step: int  # first step
    last: int | None  # last step, None if it is still slower
    tag: str  # scalar with the time or rate of steps, "" for the times at which steps were recorded


def is_pace(tag: str) -> bool:
    """Return True if a scalar is the time or rate of steps by its name."""
    return is_time(tag) or is_rate(tag)


def is_time(tag: str) -> bool:
    """Return True if a scalar is the time that a step takes by its name."""
    return _TIME.search(tag) is not None


def is_rate(tag: str) -> bool:
    """Return True if a scalar is a number of steps or samples in a second by its name."""
    return _RATE.search(tag) is not None


def is_slight(stray: RankOutlier, first: int) -> bool:
    """Return True for a time or rate of steps that differs by less than a machine's load explains, or at one
    step only, by little or at the ``first``, in which a training compiles and fills its caches."""
    share = _share(stray)
    at_once = stray.kind == "spikes" and stray.count == 1
    brief = at_once and (stray.step == first or (stray.relative is not None and abs(stray.relative) < _STALL))
    return brief or (share is not None and abs(share) < _LEAST_SLOWER)


def slow_by_scalars(strays: Iterable[tuple[str, RankOutlier]]) -> Iterator[SlowRank]:
    """Yield the ranks that are slower in the scalars with the time or rate of steps, once for each scalar.
    ``strays`` are pairs of tag and divergence. Divergences of two ranks from each other are skipped,
    because neither is the median rank."""
    for tag, stray in strays:
        if (share := _share(stray)) is None or not is_pace(tag):
            continue
        if _TIME.search(tag) is None:
            share = 1 / (1 + share) - 1 if share > -1 else 0.0
        if share > 0:
            yield SlowRank(stray.row, share, stray.step, stray.last_step, tag)


def slow_by_walls(ranks: Sequence[Run], tags: Sequence[str]) -> list[SlowRank] | None:
    """Return the ranks that are slower by the times at which they recorded their steps. None if fewer than
    two ranks have enough steps, or if steps are too short. Of each rank the first scalar of ``tags`` that
    it has is used."""
    curves = [_durations(run, tags) for run in ranks]
    medians = [float(np.median(seconds)) for _, seconds in curves if len(seconds) >= FEWEST_STEPS]
    if len(medians) < 2 or float(np.median(medians)) < _LEAST_PACE:
        return None
    shares = ((stray, _share(stray)) for stray in judge(curves).strays)
    return [
        SlowRank(stray.row, share, stray.step, stray.last_step, "")
        for stray, share in shares
        if share is not None and share >= _LEAST_SLOWER
    ]


def _share(stray: RankOutlier) -> float | None:
    if stray.kind != "lasting" or stray.other is not None or stray.both_sides:
        return None
    return stray.relative if stray.end is None else stray.end


def _durations(run: Run, tags: Sequence[str]) -> tuple[Ints, Doubles]:
    """Return the steps of the first scalar of ``tags`` that a run has, without the first of them, and the
    seconds for each since the step before."""
    series = next((run.scalars[tag] for tag in tags if tag in run.scalars), None)
    if series is None:
        return np.zeros(0, np.int64), np.zeros(0)
    line = series.line()
    seconds = np.diff(line.walls) / np.diff(line.steps)
    known = np.isfinite(seconds) & (seconds > 0)  # not where a training was resumed from an earlier step
    return line.steps[1:][known], seconds[known]


def pace_claims(ranks: Sequence[Run], slow: Sequence[SlowRank] | None) -> list[Claim]:
    """Return the claims that ranks are slower, or that this is unknown if their steps are only known to be
    recorded at about the same times. Empty if nothing is known (None). A job whose ranks wait for each
    other has equal times: they do not tell which rank makes the others wait."""
    if slow is None:
        return []
    if not slow:
        return [Claim("claim.health.pace_unknown", "unknown", {}, (), ("claim.missing.step_times",))]
    by_row: dict[int, SlowRank] = {}
    for rank in slow:  # of each the most telling scalar, which is the first
        by_row.setdefault(rank.row, rank)
    rows = by_row.values()
    return [
        *_slower("claim.health.slower", ranks, [rank for rank in rows if rank.last is None]),
        *_slower("claim.health.was_slower", ranks, [rank for rank in rows if rank.last is not None]),
    ]


def _slower(key: str, ranks: Sequence[Run], slow: Sequence[SlowRank]) -> Iterator[Claim]:
    if not slow:
        return
    worst = max(slow, key=lambda rank: rank.share)
    source = Claim("claim.part.health.by_scalar", "note", {"tag": worst.tag})
    facts: dict[str, Any] = {
        "n": len(slow),
        "ranks": few([str(ranks[rank.row].rank) for rank in slow], _NAMED),
        "percent": float(f"{100 * worst.share:.2g}"),
        "step": min(rank.step for rank in slow),
        "source": source if worst.tag else Claim("claim.part.health.by_walls", "note"),
    }
    if key == "claim.health.was_slower":
        facts["last"] = max(rank.last or 0 for rank in slow)
    evidence = tuple(
        {
            "run": ranks[rank.row].id,
            "rank": ranks[rank.row].rank,
            "step": rank.step,
            "tag": rank.tag,
            "percent": float(f"{100 * rank.share:.2g}"),
        }
        for rank in slow
    )
    yield Claim(key, "found", facts, evidence)
