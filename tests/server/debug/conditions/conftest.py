"""Verdicts of conditions on small arrays, judged as the debugger does."""

from typing import Any

import numpy as np

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.conditions import Sample, conditions
from mindinsight.server.debug.watchpoints import checked_limits
from mindinsight.server.formats.arrays.lazy_array import Held

NUMBERS = [-3.0, -1.0, 0.0, 2.0]  # mean -0.5, mean magnitude 1.5, one zero in four


def judge(condition: Any, values: Any, previous: Any = None, overflowed: Any = False, **limits: Any) -> Any:
    """Return the verdict of a condition on an array, with its values at the previous step if given."""
    values = np.array(values)
    before = None if previous is None else lambda: Held(np.array(previous))
    sample = Sample(measure(values), lambda: Held(values), before, overflowed)
    return conditions()[condition].judge(sample, checked_limits(condition, limits))
