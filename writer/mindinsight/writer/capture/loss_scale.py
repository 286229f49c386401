"""Loss scale of a training in mixed precision: overflows that a ``GradScaler`` mends by itself."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import torch

_LEAST: Final = 1.0  # a scale that has fallen to it does not make gradients overflow any more
_log: Final = logging.getLogger(__name__)


class LossScale:
    """Scale that a ``GradScaler`` looks for: in its first steps, and after it has doubled the scale.

    Gradients that are not finite are how it finds out that the scale is too large: it skips the update of the
    weights and halves the scale. So they are no fault as long as the scale is above one.
    """

    def __init__(self, scaler: torch.amp.GradScaler | None) -> None:
        self._scaler = scaler if scaler is not None and scaler.is_enabled() else None
        self._logged = False

    def mends(self, norm: float) -> bool:
        """Whether the scaler skips an update by gradients of this norm, and lowers its scale."""
        if self._scaler is None or math.isfinite(norm):
            return False
        scale = float(self._scaler.get_scale())
        if scale > _LEAST and not self._logged:
            self._logged = True
            _log.info(
                "gradients overflow at a loss scale of %g: GradScaler skips such steps and lowers the scale,"
                " so they are not reported as faults",
                scale,
            )
        return scale > _LEAST

    def remark(self, norm: float) -> str:
        """What to add to a report on gradients of this norm; "" mostly."""
        if self._scaler is None or math.isfinite(norm):
            return ""
        return f" although the loss scale has fallen to {self._scaler.get_scale():g}"

    def advice(self, norm: float) -> str:
        """A sentence on gradients of this norm for a training that may have a scaler of which nobody told."""
        if self._scaler is not None or math.isfinite(norm):
            return ""
        return "With a GradScaler this is normal: give it to the recorder as scaler=."
