"""Schedule of the steps in which a flight recorder watches all modules, by what that costs."""

from __future__ import annotations

from typing import Final

_SHARE: Final = 0.008  # of the training's time; the checks of every step take the rest of three percent
_SOONEST: Final = 10  # steps between two that nothing asks for
_ADVANCE: Final = 6  # watched steps that may be spent before they are saved, where something is suspected


class WatchSchedule:
    """Steps to watch: the first, and as often as 0.8 % of the time pays for, or every ``check_every``."""

    def __init__(self, check_every: int | None) -> None:
        self._every = check_every if check_every is None else max(check_every, 1)
        self._last = -_SOONEST
        self._cost = 0.0  # seconds that watching one step takes
        self._saved = 0.0  # seconds

    def due(self, step: int, suspected: bool) -> bool:
        """Return whether to watch this step."""
        if self._every is not None and step % self._every == 0:
            return True
        if suspected:
            return self._saved > -_ADVANCE * self._cost or not self._cost
        return self._every is None and step - self._last >= _SOONEST and self._saved >= 0

    def watched(self, step: int, seconds: float) -> None:
        """Take what watching a step has cost."""
        self._last = step
        self._cost = max(seconds, self._cost) if step else seconds / 2  # the first also warms caches up
        self._saved -= seconds if step else 0.0

    def passed(self, seconds: float) -> None:
        """Take how long a step of the training took."""
        self._saved = min(self._saved + _SHARE * seconds, self._cost)
