"""Alerts: what a person should look at, and how often the same one is recorded."""

from __future__ import annotations

import logging
from typing import Any, Final, Literal, TypeAlias

from mindinsight.writer import wire
from mindinsight.writer.events import Item

Level: TypeAlias = Literal["info", "warning", "error"]

LONGEST_TITLE: Final = 200  # characters
LONGEST_TEXT: Final = 10_000
_NUMBERS: Final = {"info": 0, "warning": 1, "error": 2}  # of Alert.Level in summary.proto
_TITLE, _TEXT, _LEVEL = 1, 2, 3
_MOST: Final = 1000  # different alerts that are remembered
_log: Final = logging.getLogger(__name__)


def alert(title: Any, text: Any, level: Any) -> Item:
    """The message Alert of summary.proto. Whatever is given becomes one: this is no moment to raise."""
    number = _NUMBERS.get(level) if isinstance(level, str) else None
    if number is None:
        known = ", ".join(_NUMBERS)
        _log.warning("the level of an alert is one of %s, not %r: 'warning' is taken", known, level)
        number = _NUMBERS["warning"]
    heading = str(title)[:LONGEST_TITLE]
    fields = (_text(_TITLE, heading), _text(_TEXT, str(text)[:LONGEST_TEXT]), wire.integer(_LEVEL, number))
    return Item("alert", heading, b"".join(fields))


def _text(number: int, text: str) -> bytes:
    return wire.block(number, text.encode(errors="backslashreplace"))


class Said:
    """When each alert was last recorded, for a loop that gives the same one in every step."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}

    def again(self, title: str, level: str, now: float, wait: float) -> bool:
        """Whether this was said less than ``wait`` seconds ago; if not, it is said ``now``."""
        key = title, level
        last = self._last.get(key)
        if last is not None and now - last < wait:
            return True
        self._last.pop(key, None)
        self._last[key] = now
        if len(self._last) > _MOST:
            del self._last[next(iter(self._last))]
        return False
