"""Detector of layers that have died: outputs of zeros only, and weights that no gradient reaches."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final, NamedTuple

_PERSISTENT: Final = 8  # steps without a gradient: layers that are dropped at random come back before
_CONFIRMED: Final = 2  # watched steps in a row
_SETTLED: Final = 8  # steps after which weights that began with zeros have moved
_HEALTHY: Final = 20  # steps between two faults


class Watched(NamedTuple):
    """Outputs and gradients of a step whose modules were watched."""

    outputs: Mapping[str, float]  # module -> L2 norm of its output, in the order in which they ended
    highest: Mapping[str, float]  # module without a gradient -> largest element of its output
    quiet: frozenset[str]  # modules of which all trainable weights have a gradient of zeros only


class SilentGradients:
    """Check of the number of weights whose gradient is zeros only, each step."""

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=_PERSISTENT)
        self._known = 0

    def suspicious(self, count: int) -> bool:
        """Return whether more weights than known have been without a gradient for eight steps."""
        self._counts.append(count)
        lasting = min(self._counts) if len(self._counts) == _PERSISTENT else 0
        self._known = min(self._known, count)
        return lasting > self._known

    @property
    def lasting(self) -> bool:
        """Whether any weight has been without a gradient in each of the last eight steps."""
        return len(self._counts) == _PERSISTENT and min(self._counts) > 0

    def settle(self) -> None:
        """Take the weights that have no gradient now for known."""
        self._known = self._counts[-1] if self._counts else 0


class DeadLayers:
    """Check of the watched steps of a training, one call for each.

    A module is dead if it gave values other than zero and gives zeros only, while weights have no gradient. A
    ReLU that is a function shows in the module before it: nothing that it gives is positive, and none of its
    weights has a gradient. Both have to hold in two watched steps in a row.
    """

    def __init__(self) -> None:
        self._alive: dict[str, tuple[float, int]] = {}  # module -> norm of its output, and the step
        self._trained: set[str] = set()  # modules whose weights had a gradient
        self._streaks: dict[str, int] = {}
        self._told: set[str] = set()

    def check(self, step: int, watched: Watched) -> str:
        """Return what has died in words, "" if nothing has. What dies together is told once, by its first."""
        reasons = self._candidates(step, watched)
        self._streaks = {name: self._streaks.get(name, 0) + 1 for name in reasons}
        self._told &= reasons.keys()
        for name, norm in watched.outputs.items():
            if norm > 0:
                self._alive[name] = norm, step
        self._trained |= watched.outputs.keys() - watched.quiet
        dead = [name for name, streak in self._streaks.items() if streak >= _CONFIRMED]
        new = [name for name in dead if name not in self._told]
        self._told |= set(dead)
        return reasons[new[0]] if new else ""

    @property
    def undecided(self) -> bool:
        """Whether a layer looked dead in the last watched step and has not been told."""
        return any(name not in self._told for name in self._streaks)

    def _candidates(self, step: int, watched: Watched) -> dict[str, str]:
        reasons: dict[str, str] = {}
        if not watched.quiet:
            return reasons
        for name, norm in watched.outputs.items():
            if norm == 0 and name in self._alive:
                before, seen = self._alive[name]
                where = name or "the network"
                reasons[name] = f"every output of {where} is zero; its norm was {before:.3g} at step {seen}"
        for name, highest in watched.highest.items():
            since_begin = step >= _SETTLED
            if highest <= 0 and name in watched.quiet and (name in self._trained or since_begin):
                reasons.setdefault(
                    name,
                    f"no output of {name} is above zero and no gradient reaches its weights:"
                    " a ReLU behind it is dead",
                )
        return reasons


class FaultEpisode:
    """Steps that are broken by one fault: until twenty steps in a row were healthy."""

    def __init__(self) -> None:
        self._last: int | None = None

    def begins(self, step: int) -> bool:
        """Take a broken step, and return whether it is the first of its episode."""
        new = self._last is None or step - self._last > _HEALTHY
        self._last = step
        return new
