"""Values with which groups of runs end, and whether the groups differ in them by more than chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.curves.bands import Ended
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line
from mindinsight.server.types import Doubles

_CHANCE: Final = 0.01  # up to which a difference is no chance
_SHUFFLES: Final = 1999  # random groups: 20 of them differ as much by a chance of 1 %
_ROUNDING: Final = 1e-9  # share of a statistic that counts as equal


@dataclass(frozen=True, slots=True)
class GroupEnd:
    """Mean of the values with which the runs of a group end, and their standard deviation."""

    runs: int  # that have a finite value there
    mean: float | None  # None without a run
    deviation: float | None  # None with fewer than two


def end_values(groups: Sequence[Sequence[tuple[Run, Line]]], ended: Ended) -> list[list[float]]:
    """Return the finite values with which the runs of each group end, [] for a group without any. The ranks
    of a job count as one run, with their mean.

    With ``hold`` that is the last value of each run, with ``drop`` of the runs that reach the last step of
    all groups, and with ``common`` the value at the last step that all runs reach.
    """
    lines = [line for group in groups for _, line in group if len(line.steps)]
    if not lines:
        return [[] for _ in groups]
    lasts = [int(line.steps[-1]) for line in lines]
    least = max(lasts) if ended == "drop" else 0
    most = min(lasts) if ended == "common" else max(lasts)
    ends = []
    for group in groups:
        by_job: dict[str, list[float]] = {}
        for run, line in group:
            at = int(np.searchsorted(line.steps, most, "right")) - 1
            if at >= 0 and line.steps[-1] >= least and math.isfinite(line.values[at]):
                by_job.setdefault(run.job, []).append(float(line.values[at]))
        ends.append([float(np.mean(values)) for values in by_job.values()])
    return ends


def group_end(values: Sequence[float]) -> GroupEnd:
    """Return mean and standard deviation of the ``values`` of a group, None if there are too few."""
    mean = float(np.mean(values)) if values else None
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return GroupEnd(len(values), mean, deviation)


def end_claims(ends: Sequence[Sequence[float]], criteria: int = 1) -> list[Claim]:
    """Return the claim whether groups end with other values than random groups of these runs do, or that this
    is unknown. [] if fewer than two groups have values.

    ``ends`` has the values of each group. ``criteria`` is the number of ways to group the runs of which the
    one was chosen that separates best: any may do so by chance.
    """
    groups = [values for values in ends if values]
    if len(groups) < 2:
        return []
    sizes = [len(values) for values in groups]
    facts: dict[str, float] = {"n": sum(sizes), "groups": len(groups)}
    if criteria / _divisions(sizes) > _CHANCE:
        return [Claim("claim.group.ends_few", "unknown", facts)]
    chance = min(1.0, criteria * _chance(groups))
    facts["percent"] = max(0.1, float(f"{100 * chance:.2g}"))
    if chance <= _CHANCE:
        return [Claim("claim.group.ends_differ", "found", facts)]
    return [Claim("claim.group.ends_alike", "clear", facts)]


def _divisions(sizes: Sequence[int]) -> float:
    """Return the number of divisions of runs into unnamed groups of ``sizes``."""
    logarithm = math.lgamma(sum(sizes) + 1) - sum(math.lgamma(size + 1) for size in sizes)
    logarithm -= sum(math.lgamma(sizes.count(size) + 1) for size in set(sizes))
    return math.exp(min(logarithm, 700.0))


def _chance(groups: Sequence[Sequence[float]]) -> float:
    """Return the share of random groups of the same sizes whose means differ as much (a permutation test)."""
    values = np.concatenate([np.asarray(group, np.float64) for group in groups])
    values = values / max(float(np.abs(values).max()), 1e-300)
    values -= values.mean()
    generator = np.random.default_rng(0)
    shuffled = np.stack([values, *(generator.permutation(values) for _ in range(_SHUFFLES))])
    edges = np.cumsum([0, *map(len, groups)])[:-1]
    sums: Doubles = np.add.reduceat(shuffled, edges, axis=1)
    between = (sums**2 / [len(group) for group in groups]).sum(axis=1)
    return float((between >= between[0] * (1 - _ROUNDING)).mean())
