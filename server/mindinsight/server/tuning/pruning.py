"""Intermediate values of a trial for its pruner: the live curve, at steps that all trials have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from mindinsight.server.store.line import Line

LOOKS: Final = 50  # intermediate values of the first trial, when the file does not say how many steps apart


def spacing(last_step: int) -> int:
    """Steps between two looks for trials as long as one that ended at ``last_step``: 1, 2 or 5 times 10^n."""
    wanted = max(1, last_step // LOOKS)
    power: int = 10 ** (len(str(wanted)) - 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)


def looks(line: Line, every: int, after: int) -> Iterator[tuple[int, float]]:
    """Multiples of ``every`` above ``after`` that the curve has reached, each with the value it had there."""
    last = int(line.steps[-1]) if len(line.steps) else 0
    for step in range((after // every + 1) * every, last + 1, every):
        row = int(np.searchsorted(line.steps, step, side="right")) - 1
        if row >= 0:
            yield step, float(line.values[row])
