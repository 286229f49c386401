"""Signs of a fault on the ranks of a distributed training, and what they mean together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

FINE: Final = 0
SILENT: Final = 1  # a module gives zeros only: no fault yet
SHARED: Final = 2  # seen in what all ranks have after a reduction: the gradients
OWN: Final = 3  # seen in what a rank computed by itself: loss, outputs

_TOLERANCE: Final = 1e-4  # relative difference of gradient norms that are the same number


class Examined(NamedTuple):
    """What is wrong with a step, "" where nothing is, and where that was seen: ``FINE`` to ``OWN``."""

    reason: str
    cause: int


class RankSign(NamedTuple):
    """What one rank saw in a step, ``FINE`` to ``OWN``, and the norm of its gradients."""

    cause: int
    norm: float  # NaN without gradients


def combined(signs: Sequence[RankSign], own: Examined, rank: int, same_gradients: bool) -> Examined:
    """The reason for all ranks to dump: this rank's own, and the ranks at which it begins.

    ``signs`` has one entry for each rank. With ``same_gradients`` norms that differ are a fault of the ranks
    that are away from the median; of two ranks it cannot be told which.
    """
    worst = max(sign.cause for sign in signs)
    if worst:
        first = [number for number, sign in enumerate(signs) if sign.cause == worst]
        if first == [rank]:
            return own
        others = f"rank {_joined(first)} reported it" if worst != SHARED else ""
        parts = [own.reason if worst in {own.cause, OWN} else "", others]
        return Examined("; ".join(filter(None, parts)) or "another rank reported a fault", worst)
    norms = [sign.norm for sign in signs]
    if not same_gradients or len(norms) < 2 or not all(map(math.isfinite, norms)):
        return own
    middle = median(norms)
    away = [number for number, norm in enumerate(norms) if abs(norm - middle) > _TOLERANCE * max(norms)]
    if not away:
        return own
    listed = ", ".join(f"{norm:.6g} on rank {number}" for number, norm in enumerate(norms[:8]))
    who = f"of rank {_joined(away)} differ" if len(norms) > 2 else "differ between the ranks"
    return Examined(f"the gradients {who}: norm {listed}", SHARED)


def _joined(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:8]))
