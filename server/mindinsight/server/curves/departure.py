"""Departure of a difference from its course: the row from which on two curves part, beyond their noise."""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.curves.change_point import Change, change_of
from mindinsight.server.types import Doubles

_GROWS: Final = 1.5  # times the usual size before, from which a difference is a larger one
_LOG_FLOOR: Final = 0.05  # noise of a logarithm of sizes that is believed
_LEAST: Final = 0.3  # noise levels of a single row that a lasting shift comes to


def departure(relative: Doubles, floor: float) -> Change | None:
    """The change by which the finite difference ``relative`` [n] becomes larger; None where there is none.

    Two courses are looked at: the difference itself, for a shift or a trend to one side, then the logarithm
    of its size, for one that grows to both sides; its slow beginning is lost in a logarithm. A change towards
    zero is no departure. Sizes below ``floor`` count as none.
    """
    signed = change_of(relative, floor)
    if signed is not None and _is_larger(relative, signed.onset, floor):
        return signed
    grown = change_of(np.log(np.maximum(np.abs(relative), floor)), _LOG_FLOOR)
    if grown is not None and grown.shift > 0 and _is_larger(relative, grown.onset, floor):
        return grown
    return None


def _is_larger(relative: Doubles, onset: int, floor: float) -> bool:
    before, after = relative[:onset], relative[onset:]
    usual = float(np.sqrt(np.mean(before**2))) if len(before) else 0.0
    later = float(np.sqrt(np.mean(after**2)))
    if later > _GROWS * max(usual, floor):
        return True
    middle = abs(float(np.median(after))) - (abs(float(np.median(before))) if len(before) else 0.0)
    return middle > max(_LEAST * usual, floor)
