"""Calls of a recorder that must not end the training they watch."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class GuardedCalls:
    """Caller that gives None for what raises, and logs the first exception as that of ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._logged = False

    def __call__(self, function: Callable[..., T], *arguments: Any) -> T | None:
        """What ``function`` returns; None where it raises an ``Exception``."""
        try:
            return function(*arguments)
        except Exception:
            if not self._logged:
                self._logged = True
                _log.exception("%s: a measurement failed; the training goes on (said once)", self._name)
            return None
