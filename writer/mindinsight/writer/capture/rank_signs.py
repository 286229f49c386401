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
_SAME_WEIGHTS: Final = 1e-6  # of weights: replicas compute the same bits, and devices of two types nearly so
_LEARNED: Final = 5  # steps in a row with equal gradients after which different ones are a fault


class Examined(NamedTuple):
    """What is wrong with a step, "" where nothing is, and where that was seen: ``FINE`` to ``OWN``."""

    reason: str
    cause: int


class RankSign(NamedTuple):
    """What one rank saw in a step, ``FINE`` to ``OWN``, and the norm of its gradients."""

    cause: int
    norm: float  # NaN without gradients
    weights: float = math.nan  # norm of all weights, NaN in steps in which it is not measured


class Replicas:
    """Check that the ranks of a training in parallel over data have the same gradients and weights.

    ``declared`` says that they have, or have not; None leaves it to the first steps: ranks that began with
    the same weights keep them, and those that had the same gradients for five steps in a row go on so.
    Gradients that differ from the first step on prove nothing: they do while they are accumulated.
    """

    def __init__(self, declared: bool | None) -> None:
        self._declared = declared
        self._equal = 0  # steps in a row with equal gradients
        self._replicated: bool | None = None  # None until weights were measured
        self._since = 0  # the last step at which the weights were equal

    def check(self, step: int, signs: Sequence[RankSign]) -> str:
        """Return the ranks that differ and in what, "" if none does or they may."""
        if self._declared is False or len(signs) < 2:
            return ""
        return self._gradients([sign.norm for sign in signs]) or self._weights(
            step, [sign.weights for sign in signs]
        )

    def _gradients(self, norms: Sequence[float]) -> str:
        if not all(math.isfinite(norm) and norm > 0 for norm in norms):
            return ""
        away = _away(norms, _TOLERANCE)
        armed = self._declared or self._equal >= _LEARNED
        self._equal = self._equal + 1 if not away else 0
        if not away or not armed:
            return ""
        self._replicated = False  # weights that differ from now on follow from it
        return f"the gradients {_who(away, norms)}: norm {_by_rank(norms)}"

    def _weights(self, step: int, norms: Sequence[float]) -> str:
        if not all(map(math.isfinite, norms)):
            return ""
        away = _away(norms, _SAME_WEIGHTS)
        if self._replicated is None:
            self._replicated = not away
        if away and self._replicated:
            self._replicated = False  # they stay different: told once
            equal = f"were equal at step {self._since}"
            return f"the weights {_who(away, norms)} and {equal}: norm {_by_rank(norms)}"
        self._since = step if not away else self._since
        return ""


def combined(signs: Sequence[RankSign], own: Examined, rank: int) -> Examined:
    """Return the reason for all ranks to dump: this rank's own, and the ranks at which it begins.

    ``signs`` has one entry for each rank.
    """
    worst = max(sign.cause for sign in signs)
    if worst:
        first = [number for number, sign in enumerate(signs) if sign.cause == worst]
        if first == [rank]:
            return own
        others = f"rank {_joined(first)} reported it" if worst != SHARED else ""
        parts = [own.reason if worst in {own.cause, OWN} else "", others]
        return Examined("; ".join(filter(None, parts)) or "another rank reported a fault", worst)
    return own


def _away(norms: Sequence[float], tolerance: float) -> list[int]:
    """Return the ranks away from the median by more than ``tolerance`` times the largest."""
    middle = median(norms)
    return [number for number, norm in enumerate(norms) if abs(norm - middle) > tolerance * max(norms)]


def _who(away: Sequence[int], norms: Sequence[float]) -> str:
    """Name the ranks that differ; of two ranks it is unknown which."""
    return f"of rank {_joined(away)} differ" if len(norms) > 2 else "differ between the ranks"


def _by_rank(norms: Sequence[float]) -> str:
    return ", ".join(f"{norm:.9g} on rank {number}" for number, norm in enumerate(norms[:8]))


def _joined(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:8]))
