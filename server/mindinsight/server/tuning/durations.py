"""Durations as people write them: ``90``, ``30m``, ``1.5h``, ``2d``."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "": 1}


def seconds(text: str) -> float:
    """``90``, ``30m``, ``1.5h`` or ``2d`` in seconds; raises ValueError."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|min|m|h|d|)\s*", text)
    if not match or float(match[1]) <= 0:
        raise ValueError(f"must be a time such as 90 (seconds), 30m, 1.5h or 2d, got {text!r}")
    return float(match[1]) * _UNITS[match[2]]
