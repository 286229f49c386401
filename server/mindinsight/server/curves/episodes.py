"""Stretches of a series in which something holds: where each begins and how many points it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Floats, Ints

Condition: TypeAlias = Literal["not_finite", "above", "below"]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Episodes:
    """The episodes among the first ``end`` rows of a series."""

    rows: Ints  # [e] first row of each
    counts: Ints  # [e] rows of each
    end: int

    @property
    def ongoing(self) -> bool:
        """Whether the last row is in an episode, the last one."""
        return bool(len(self.rows)) and int(self.rows[-1] + self.counts[-1]) == self.end


NO_EPISODES: Final = Episodes(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)


def holds(condition: Condition, limit: float, values: Floats) -> Mask:
    """[n] where ``condition`` holds; NaN is neither above nor below anything."""
    if condition == "not_finite":
        return ~np.isfinite(values)
    bound = np.float64(limit)  # an array of float32 must not narrow it
    return values > bound if condition == "above" else values < bound


def extended(before: Episodes, held: Mask, starts: Ints) -> Episodes:
    """``before`` with the rows behind it.

    ``held`` [n] says where the condition holds in these, and ``starts`` at which of them a segment of the
    series begins: no episode goes on from one segment to the next.
    """
    end = before.end + len(held)
    if not held.any():
        return Episodes(before.rows, before.counts, end)
    apart = np.zeros(len(held), np.bool_)
    apart[starts] = True
    begins = held & apart
    begins[1:] |= held[1:] & ~held[:-1]
    begins[0] = held[0]
    firsts = np.flatnonzero(begins)
    breaks = np.append(np.flatnonzero(~held | apart), len(held))
    counts = breaks[np.searchsorted(breaks, firsts, side="right")] - firsts
    counts_before = before.counts
    if before.ongoing and held[0] and not apart[0]:
        counts_before = counts_before.copy()
        counts_before[-1] += counts[0]
        firsts, counts = firsts[1:], counts[1:]
    rows = np.concatenate([before.rows, firsts + before.end])
    return Episodes(rows, np.concatenate([counts_before, counts]), end)
