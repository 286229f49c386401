"""Numbers as JSON values, which have no NaN and no infinity."""

from __future__ import annotations

import math


def json_number(value: float) -> float | str:
    """``value``, or ``"nan"``, ``"inf"`` or ``"-inf"``."""
    return value if math.isfinite(value) else str(float(value))
