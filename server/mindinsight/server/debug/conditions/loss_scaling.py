"""Steps in which gradients overflowed and a loss scaler skipped the update, as it does to find its scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mindinsight.server.debug.operator_links import canonical
from mindinsight.server.debug.tensor_targets import is_gradient

if TYPE_CHECKING:
    from mindinsight.server.debug.fault_search import Measure, Origin
    from mindinsight.server.formats.dumps.dump_types import TensorEntry

_UPDATE: Final = "ampupdatescale"  # PyTorch's operator: scale, growth tracker, found_inf -> the next scale
_SCALE, _FOUND = "0", "2"  # its slots
_LEAST: Final = 1.0  # a scale that has fallen to it does not make gradients overflow any more


def skipped_scale(origin: Origin, entries: Sequence[TensorEntry], measure: Measure) -> float | None:
    """Return the loss scale at which gradients overflowed, so that a scaler skipped the update and lowers the
    scale. Return None if the non-finite values have another cause, or if the scaler was not recorded.

    The first non-finite output must be a gradient in half precision that has infinities and no NaN, and the
    scale must be above one: what overflows without a scale is a fault.
    """
    if not is_gradient(origin.entry) or origin.entry.dtype != "float16":
        return None
    slots = {
        entry.slot: entry
        for entry in entries
        if entry.direction == "input" and canonical(entry.type) == _UPDATE
    }
    if not {_SCALE, _FOUND} <= slots.keys():
        return None
    measured = list(measure([origin.entry, slots[_SCALE], slots[_FOUND]]))
    known = [result.measurement.statistics for result in measured if result.measurement]
    if len(known) < len(measured):
        return None
    first, scale, skipped = known
    overflowed = bool(first.infinities) and not first.nans
    if not (overflowed and skipped.absolute_mean and scale.mean is not None and scale.mean > _LEAST):
        return None
    return float(scale.mean)
