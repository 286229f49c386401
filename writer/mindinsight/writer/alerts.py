"""Encoder and rate limiter of alerts."""

import logging
import os
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from mindinsight.writer import options
from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import Item

Level: TypeAlias = Literal["info", "warning", "error"]

LONGEST_TITLE: Final = 200  # characters
LONGEST_TEXT: Final = 10_000  # characters, so that a loop does not fill its file with alerts
LONGEST_PATH: Final = 4096  # characters, as in Linux
_NUMBERS: Final = {"info": 0, "warning": 1, "error": 2}  # of Alert.Level in summary.proto
_TITLE, _TEXT, _LEVEL, _DUMP = 1, 2, 3, 4  # fields of Alert in summary.proto
_REMEMBERED: Final = 1000  # different alerts
_log: Final = logging.getLogger(__name__)


def alert(title: Any, text: Any, level: Any, dump: str = "") -> Item:
    """Return an Item with the serialised Alert of summary.proto. Never raises: an invalid level is a
    warning. Title and text are cut to LONGEST_TITLE and LONGEST_TEXT. ``dump`` is the path of a dump
    relative to the directory of the event file. A path above LONGEST_PATH is left out."""
    number = _NUMBERS.get(level) if isinstance(level, str) else None
    if number is None:
        levels = ", ".join(_NUMBERS)
        _log.warning("the level of an alert is one of %s, not %r: 'warning' is used", levels, level)
        number = _NUMBERS["warning"]
    heading = str(title)[:LONGEST_TITLE]
    fields = [_text(_TITLE, heading), _text(_TEXT, str(text)[:LONGEST_TEXT]), wire.integer(_LEVEL, number)]
    if dump and len(dump) <= LONGEST_PATH:
        fields.append(_text(_DUMP, dump))
    return Item("alert", heading, b"".join(fields))


def _text(number: int, text: str) -> bytes:
    return wire.block(number, text.encode(errors="backslashreplace"))


def relative_path(dump: Any, file: str) -> str:
    """Return the path of a dump relative to an event file's directory, "" for None or an invalid path."""
    try:
        return "" if dump is None else Path(os.path.relpath(dump, Path(file).parent)).as_posix()
    except (TypeError, ValueError) as error:  # on Windows there is none from one drive to another
        _log.warning("an alert has no link to its dump: %s", error)
        return ""


def step_of(step: Any, default: int) -> int:
    """Return the step of an alert, or ``default`` if ``step`` is None or invalid."""
    try:
        return default if step is None else options.step(step)
    except (TypeError, ValueError) as error:
        _log.warning("an alert is recorded at step %d: %s", default, error)
        return default


class AlertThrottle:
    """Rate limiter of alerts, because a loop may raise the same one in every step."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}

    def holds_back(self, title: str, level: str, now: float, wait: float) -> bool:
        """Return True if an alert of this title and level passed less than ``wait`` seconds before ``now``.
        Otherwise note that this alert passes at ``now``, and return False."""
        key = title, level
        last = self._last.get(key)
        if last is not None and now - last < wait:
            return True
        self._last.pop(key, None)
        self._last[key] = now
        if len(self._last) > _REMEMBERED:
            del self._last[next(iter(self._last))]
        return False
