"""Log of dropped values: a warning for each reason, with tags and steps."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Stretch:
    first: int
    last: int
    count: int = 0


class DroppedValues:
    """Collects dropped values, from any thread, until they are logged."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reasons: dict[str, dict[str, _Stretch]] = {}

    def add(self, reason: str, names: Iterable[tuple[str, int]]) -> None:
        """Remember that the values of these tags and steps were dropped."""
        with self._lock:
            tags = self._reasons.setdefault(reason, {})
            for tag, step in names:
                stretch = tags.setdefault(tag, _Stretch(step, step))
                stretch.last = step
                stretch.count += 1

    def log(self) -> None:
        """Log what was dropped since the last time, if anything was."""
        with self._lock:
            reasons, self._reasons = self._reasons, {}
        for reason, tags in reasons.items():
            _log.warning("not recorded: %s: %s", "; ".join(_text(tag, tags[tag]) for tag in tags), reason)


def _text(tag: str, stretch: _Stretch) -> str:
    if stretch.count == 1:
        return f"'{tag}' of step {stretch.first}"
    return f"{stretch.count} values of '{tag}' from step {stretch.first} to {stretch.last}"
