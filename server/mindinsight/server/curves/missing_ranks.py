"""Ranks of a job that have no data: missing ones, and those of nodes that record some of their ranks only."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from math import gcd
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.types import Ints

_NAMED: Final = 8  # gaps, or ranks, that are named; the count tells how many there are
_NODE: Final = 64  # devices of a node: a pattern that repeats after more is a stride or none
_RECORDED: Final = 1 / 2  # largest share of a node's ranks that are a choice: of more, the others are missing
_PRESENT: Final = 3 / 4  # smallest share of the ranks that a pattern expects
_FEWEST: Final = 3  # ranks from which a stride is no gap
# Devices of a node are a multiple, so that two ranks so far apart may be those of two nodes.
_DEVICES: Final = 4


def missing_ranks(ranks: Collection[int], recorded: int = 0, left_out: int = 0) -> list[Claim]:
    """Return claims about ranks without data, [] if none is missing.

    Expected are all ranks up to the highest, or ``recorded`` ranks if these are more. ``left_out`` is the
    number of runs that the server does not show, which may be those of missing ranks. Ranks are counted from
    1 if the lowest is 1. If the same ranks of each node have data, it is unknown whether the others recorded
    any.
    """
    numbers = np.unique(np.array([*ranks], np.int64))
    if not len(numbers):
        return []
    lowest, highest = int(numbers[0]), int(numbers[-1])
    first = 1 if lowest == 1 and recorded in (0, highest) else 0
    end = max(first + recorded, highest + 1)
    period = _period(numbers, recorded)
    expected = np.arange(first, end) if period is None else _of_pattern(numbers, period, end)
    claims = []
    if period is not None:
        some = len(np.unique(numbers % period))
        facts = {"n": some, "period": period, "ranks": few([*map(str, numbers)], _NAMED)}
        claims.append(Claim("claim.health.some_of_each", "unknown", facts))
    if count := len(expected) - len(numbers):
        gaps = _gaps(numbers.tolist(), expected.tolist())
        facts = {"n": count, "total": len(expected), "ranks": gaps}
        if left_out:
            claims.append(Claim("claim.health.left_out_ranks", "unknown", {**facts, "runs": left_out}))
        else:
            claims.append(Claim("claim.health.missing_ranks", "unknown", facts))
    return claims


def _period(numbers: Ints, recorded: int) -> int | None:
    """Return the number of ranks after which those with data repeat, or None if they have no such pattern."""
    span = int(numbers[-1] - numbers[0])
    stride: int = gcd(*(numbers - numbers[0]).tolist())
    if len(numbers) < 2 or (len(numbers) < _FEWEST and span % _DEVICES):
        return None
    periods: set[int] = {*range(2, min(_NODE, span) + 1), max(stride, 2)}
    for period in sorted(periods):
        some = len(np.unique(numbers % period))
        whole = some <= _RECORDED * period and len(numbers) >= 2 * some and recorded % period == 0
        if whole and len(numbers) >= _PRESENT * len(_of_pattern(numbers, period, int(numbers[-1]) + 1)):
            return period
    return None


def _of_pattern(numbers: Ints, period: int, end: int) -> Ints:
    """Return the ranks from the lowest of ``numbers`` to ``end`` whose position in the period occurs in
    ``numbers``."""
    every = np.arange(int(numbers[0]), end)
    return every[np.isin(every % period, numbers % period)]


def _gaps(numbers: Sequence[int], expected: Sequence[int]) -> list[str]:
    """Return the ``expected`` ranks that are not among ``numbers`` as texts, "3" or "5–7", with "…" for the
    rest."""
    there = set(numbers)
    absent = [rank for rank in expected if rank not in there]
    edges = [0, *(row for row, (a, b) in enumerate(pairwise(absent), 1) if b - a > 1), len(absent)]
    spans = [(absent[a], absent[b - 1]) for a, b in pairwise(edges)]
    return few([str(low) if low == high else f"{low}–{high}" for low, high in spans], _NAMED)
