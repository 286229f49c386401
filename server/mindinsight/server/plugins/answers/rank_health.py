"""Health of the ranks of jobs: divergences of each rank, over the most telling scalars."""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.curves.bands import FEWEST_STEPS, Spread, spread_of
from mindinsight.server.curves.missing_ranks import missing_ranks
from mindinsight.server.curves.rank_anomaly import RankOutlier, amount_claim
from mindinsight.server.curves.rank_outliers import judge, rows_of_other_steps
from mindinsight.server.plugins.answers.rank_pace import (
    SlowRank,
    is_pace,
    is_slight,
    pace_claims,
    slow_by_scalars,
    slow_by_walls,
)
from mindinsight.server.store.run import Run

_RANGES: Final = 8  # ranks that are named; the count tells how many there are
_TAGS: Final = 6  # scalars of a job that are compared
_JOBS: Final = 256  # that are remembered
_GROWTH: Final = 1.01  # factor by which the points of a job grow before it is evaluated again
_WORST_FIRST: Final = ("not_finite", "silent", "lasting", "spikes")
_KEYS: Final = {
    "not_finite": "claim.health.non_finite",
    "silent": "claim.health.silent",
    "lasting": "claim.health.differs",
    "spikes": "claim.health.spikes",
}
_TELLING: Final = (r"step_?time|time_per|duration|throughput|tokens|samples_per", r"loss", r"norm", r"acc")


@dataclass(frozen=True, slots=True)
class RankDivergence:
    """Divergence of a rank in one scalar. `stray.row` is the index of the rank in `ranks`."""

    tag: str
    stray: RankOutlier

    @property
    def is_regular(self) -> bool:
        """Return True for a rank that takes longer every so many steps, as where it writes checkpoints."""
        return is_pace(self.tag) and self.stray.kind == "spikes" and self.stray.period is not None


@dataclass(frozen=True, slots=True)
class JobHealth:
    """Ranks of a job, in order, with their divergences and the claims about them."""

    runs: tuple[str, ...]  # [r]
    ranks: tuple[int | None, ...]  # [r]
    tags: tuple[str, ...]  # that were compared
    strays: tuple[RankDivergence, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    generations: tuple[int, ...]
    points: int
    left_out: int
    health: JobHealth


class HealthCache:
    """Cache of the health of jobs. A job is evaluated again once its points have grown by 1 %."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._judged: OrderedDict[str, _Judged] = OrderedDict()

    def of(self, members: Sequence[Run], left_out: int = 0) -> JobHealth:
        """Return the health of a job. It is computed again only if ranks or scalars changed or its points
        have grown by 1 %. ``members`` are the runs of its ranks that the server shows, at least one.
        ``left_out`` is the number of runs that the server does not show."""
        ranks = sorted(members, key=lambda run: (run.rank is None, run.rank or 0, run.id))
        tags = telling_tags(ranks)
        series = [run.scalars[tag] for run in ranks for tag in tags if tag in run.scalars]
        generations = tuple(member.generation for member in series)
        points = sum(member.count for member in series)
        with self._lock:
            before = self._judged.get(ranks[0].job)
        if before is not None and before.generations == generations and before.health.tags == tags:
            same_ranks = before.health.runs == tuple(run.id for run in ranks)
            same_ranks = same_ranks and before.left_out == left_out
            if same_ranks and before.points <= points < max(before.points * _GROWTH, 1):
                return before.health
        health = job_health(ranks, tags, left_out)
        with self._lock:
            self._judged[ranks[0].job] = _Judged(generations, points, left_out, health)
            while len(self._judged) > _JOBS:
                self._judged.popitem(last=False)
        return health


def job_health(ranks: Sequence[Run], tags: Sequence[str], left_out: int = 0) -> JobHealth:
    """Return the health of a job: its ranks, their divergences in each of ``tags``, and claims about them.
    ``left_out`` is the number of runs that the server does not show."""
    rank_strays = []
    compared: dict[str, list[int]] = {}
    spreads: list[tuple[str, list[int], Spread]] = []
    elsewhere: set[int] = set()
    near: set[int] = set()
    noisier: set[int] = set()
    for tag in tags:
        rows = [row for row, run in enumerate(ranks) if tag in run.scalars]
        lines = [ranks[row].scalars[tag].line() for row in rows]
        curves = [(line.steps, line.values) for line in lines]
        judgement = judge(curves)
        elsewhere.update(rows[number] for number in rows_of_other_steps([steps for steps, _ in curves]))
        near.update(rows[number] for number in judgement.elsewhere)
        noisier.update(rows[number] for number in judgement.noisier)
        compared[tag] = [rows[row] for row in judgement.compared]
        odd = {stray.row for stray in judgement.strays if not stray.shared}
        rest = [number for number in range(len(rows)) if number not in odd]
        if (spread := spread_of([curves[number] for number in rest])) is not None:
            spreads.append((tag, [rows[number] for number in rest], spread))
        for stray in judgement.strays:
            if is_pace(tag) and is_slight(stray, int(lines[stray.row].steps[0])):
                continue
            other = None if stray.other is None else rows[stray.other]
            rank_strays.append(RankDivergence(tag, replace(stray, row=rows[stray.row], other=other)))
    elsewhere -= {stray.stray.row for stray in rank_strays if stray.stray.kind == "silent"}
    others = _about(ranks, sorted(elsewhere), "claim.health.other_steps", "unknown")
    noisy = _about(ranks, sorted(noisier), "claim.health.noisier", "unknown")
    levels = [*(_levels(ranks, *known) for known in spreads), *others, *noisy]
    timed = any(len(rows) > 1 for tag, rows in compared.items() if is_pace(tag))
    named = ((divergence.tag, divergence.stray) for divergence in rank_strays)
    slow = list(slow_by_scalars(named)) if timed else slow_by_walls(ranks, tags)
    return JobHealth(
        tuple(run.id for run in ranks),
        tuple(run.rank for run in ranks),
        tuple(tags),
        tuple(rank_strays),
        (
            *health_claims(ranks, compared, rank_strays, levels, left_out, slow or ()),
            *(pace_claims(ranks, slow) if slow == [] and not timed else ()),
            *_about(ranks, sorted(near), "claim.health.near_steps", "note"),
        ),
    )


def _about(ranks: Sequence[Run], rows: Sequence[int], key: str, verdict: Verdict) -> list[Claim]:
    """Return, in a list, the claim ``key`` about the ranks of ``rows``, or an empty list without rows."""
    evidence = tuple({"run": ranks[row].id, "rank": ranks[row].rank} for row in rows)
    facts = {"n": len(rows), "ranks": few([ranks[row].rank for row in rows], _RANGES)}
    return [Claim(key, verdict, facts, evidence)] if rows else []


def _levels(ranks: Sequence[Run], tag: str, rows: Sequence[int], spread: Spread) -> Claim:
    """Return the claim that the levels of ranks differ, but that no rank is an outlier."""
    ordered = [ranks[rows[number]] for number in spread.order]
    facts: dict[str, Any] = {"tag": tag, "percent": float(f"{100 * spread.share:.2g}")}
    evidence = tuple({"run": run.id, "rank": run.rank, "tag": tag} for run in ordered)
    if not spread.low:
        return Claim("claim.health.spread", "unknown", {**facts, "n": len(ordered)}, evidence)
    evidence = tuple(
        {**entry, "group": "low" if number < spread.low else "high"} for number, entry in enumerate(evidence)
    )
    groups = (ordered[: spread.low], ordered[spread.low :])
    low, high = ([str(run.rank) for run in sorted(group, key=lambda run: run.rank or 0)] for group in groups)
    facts |= {"low": few(low, _RANGES), "high": few(high, _RANGES)}
    return Claim("claim.health.groups", "unknown", facts, evidence)


def health_claims(
    ranks: Sequence[Run],
    compared: Mapping[str, Collection[int]],
    rank_strays: Sequence[RankDivergence],
    levels: Sequence[Claim] = (),
    left_out: int = 0,
    slow: Sequence[SlowRank] = (),
) -> list[Claim]:
    """Return the claims about the ranks of a job, or that they are alike.

    They are in this order: ranks by the worst of their divergences, of which a slow pace comes after NaN and
    the end of a recording, two ranks that differ from each other, and what is unknown.

    `compared` has the indices of the compared ranks for each scalar. `levels` are the claims about levels
    that differ without an outlier rank. ``left_out`` is the number of runs that the server does not show.
    """
    slower = {(rank.row, rank.tag, "lasting") for rank in slow}
    pairs = [stray for stray in rank_strays if stray.stray.other is not None]
    worst: dict[int, str] = {}
    regular: list[RankDivergence] = []
    for stray in rank_strays:
        divergence = (stray.stray.row, stray.tag, stray.stray.kind)
        if stray.stray.other is not None or divergence in slower:
            continue
        if stray.is_regular:
            regular.append(stray)
            continue
        kinds = (stray.stray.kind, worst.get(stray.stray.row, stray.stray.kind))
        worst[stray.stray.row] = min(kinds, key=_WORST_FIRST.index)
    claims: list[Claim] = []
    for kind in _WORST_FIRST:
        if kind == "lasting":
            claims += pace_claims(ranks, slow) if slow else []
        if rows := [row for row, its_kind in sorted(worst.items()) if its_kind == kind]:
            evidence = tuple({"run": ranks[row].id, "rank": ranks[row].rank} for row in rows)
            names = few([str(ranks[row].rank) for row in rows], _RANGES)
            claims += _first_not_finite(ranks, rank_strays) if kind == "not_finite" else []
            if kind == "spikes" and (jumps := _first_jumps(ranks, rank_strays)):
                claims += jumps
                continue
            claims.append(Claim(_KEYS[kind], "found", {"n": len(rows), "ranks": names}, evidence))
    if pairs:
        claims.append(_two_differ(ranks, min(pairs, key=lambda pair: pair.stray.step)))
    faulty = {*worst, *(row for pair in pairs for row in (pair.stray.row, pair.stray.other))}
    faulty |= {rank.row for rank in slow}
    unknown = [
        *(_regular_spikes(ranks, stray) for stray in regular),
        *levels,
        *_missing(ranks, left_out),
        *_duplicates(ranks),
        *_not_compared(ranks, compared, faulty),
    ]
    common = [tag for tag, rows in compared.items() if len(rows) == len(ranks)]
    if not claims and not unknown and common:
        claims.append(Claim("claim.health.alike", "clear", {"n": len(ranks), "tags": common}))
    return claims + unknown


def _first_not_finite(ranks: Sequence[Run], rank_strays: Sequence[RankDivergence]) -> list[Claim]:
    """Return the claim that NaN or infinity began in one rank, before all others that have it, if so."""
    first: dict[int, int] = {}
    for stray in rank_strays:
        if stray.stray.kind == "not_finite":
            first[stray.stray.row] = min(stray.stray.step, first.get(stray.stray.row, stray.stray.step))
    order = sorted(first, key=lambda row: first[row])
    if len(order) < 2 or first[order[0]] == first[order[1]]:
        return []
    run, step, later = ranks[order[0]], first[order[0]], first[order[1]]
    evidence = ({"run": run.id, "rank": run.rank, "step": step},)
    facts = {"rank": run.rank, "step": step, "later": later}
    return [Claim("claim.health.non_finite_first", "found", facts, evidence)]


def _first_jumps(ranks: Sequence[Run], rank_strays: Sequence[RankDivergence]) -> list[Claim]:
    """Return the claim about the rank that jumps first, where the others follow: the earliest of all
    scalars."""
    jumps = [divergence for divergence in rank_strays if _leads(divergence)]
    if not jumps:
        return []
    first = min(jumps, key=lambda divergence: divergence.stray.step)
    run, stray = ranks[first.stray.row], first.stray
    facts = {"rank": run.rank, "tag": first.tag, "step": stray.step, "later": stray.followed}
    evidence = ({"run": run.id, "rank": run.rank, "step": stray.step},)
    by = amount_claim(stray.relative)
    return [Claim("claim.health.jump_first", "found", {**facts, "by": by}, evidence)]


def _leads(divergence: RankDivergence) -> bool:
    return divergence.stray.kind == "spikes" and bool(divergence.stray.followers)


def _two_differ(ranks: Sequence[Run], pair: RankDivergence) -> Claim:
    """Return the claim that two ranks differ from each other. Which is wrong is unknown."""
    both = (ranks[pair.stray.row], ranks[pair.stray.other or 0])
    evidence = tuple({"run": run.id, "rank": run.rank, "step": pair.stray.step} for run in both)
    facts = {"tag": pair.tag, "step": pair.stray.step, "ranks": [run.rank for run in both]}
    if pair.stray.last_step is not None:
        facts["last"] = pair.stray.last_step
        return Claim("claim.health.two_differed", "found", facts, evidence)
    return Claim("claim.health.two_differ", "found", facts, evidence)


def _regular_spikes(ranks: Sequence[Run], divergence: RankDivergence) -> Claim:
    """Return the claim that a rank takes longer every so many steps. Writing a checkpoint does that."""
    run, stray = ranks[divergence.stray.row], divergence.stray
    facts = {"rank": run.rank, "tag": divergence.tag, "period": stray.period, "step": stray.step}
    evidence = ({"run": run.id, "rank": run.rank, "step": stray.step},)
    return Claim("claim.health.regular_spikes", "unknown", facts, evidence)


def _missing(ranks: Sequence[Run], left_out: int) -> list[Claim]:
    """Return the claim that ranks have no data, up to the highest or to the recorded number of devices."""
    trained = [run.lineage.train for run in ranks if run.lineage and run.lineage.train]
    recorded = max((lineage.device_num or 0 for lineage in trained), default=0)
    return missing_ranks([run.rank for run in ranks if run.rank is not None], recorded, left_out)


def _duplicates(ranks: Sequence[Run]) -> list[Claim]:
    """Return the claim that several runs of the job have the same rank, as copies of a directory do."""
    counts = Counter(run.rank for run in ranks if run.rank is not None)
    twice = sorted(rank for rank, count in counts.items() if count > 1)
    if not twice:
        return []
    copies = [run for run in ranks if run.rank in twice]
    evidence = tuple({"run": run.id, "rank": run.rank} for run in copies)
    names = few([run.id.removeprefix("./") for run in copies], _RANGES)
    facts = {"n": len(twice), "ranks": few([str(rank) for rank in twice], _RANGES), "runs": names}
    return [Claim("claim.health.duplicates", "unknown", facts, evidence)]


def _not_compared(
    ranks: Sequence[Run], compared: Mapping[str, Collection[int]], faulty: Collection[int | None]
) -> list[Claim]:
    """Return the claim that ranks have too few points to be compared. Ranks with a fault and with enough
    points are excluded."""
    if not compared:
        everyone = tuple({"run": run.id, "rank": run.rank} for run in ranks)
        return [Claim("claim.health.nothing_compared", "unknown", {"n": len(ranks)}, everyone)]
    some = {row for rows in compared.values() for row in rows}
    points = [
        max((run.scalars[tag].count for tag in compared if tag in run.scalars), default=0) for run in ranks
    ]
    short = [
        row
        for row in range(len(ranks))
        if row not in some and (row not in faulty or points[row] < FEWEST_STEPS)
    ]
    if not short:
        return []
    evidence = tuple({"run": ranks[row].id, "rank": ranks[row].rank} for row in short)
    return [Claim("claim.health.too_few", "unknown", {"n": len(short), "fewest": FEWEST_STEPS}, evidence)]


def telling_tags(ranks: Sequence[Run]) -> tuple[str, ...]:
    """Return up to six scalars to compare ranks by: step times, losses and norms before others. At least
    two ranks, and half of all, must have them."""
    holders = Counter(tag for run in ranks for tag in run.scalars)
    common = [tag for tag, count in holders.items() if count >= 2 and count * 2 >= len(ranks)]
    return tuple(sorted(common, key=_interest)[:_TAGS])


def _interest(tag: str) -> tuple[int, int, str]:
    matching = [i for i, pattern in enumerate(_TELLING) if re.search(pattern, tag, re.IGNORECASE)]
    return min(matching, default=len(_TELLING)), len(tag), tag
