"""Encoder of precision-recall curves: a TensorProto of six rows (Summary.Value.pr_curve)."""

from typing import Any, Final

import numpy as np

from mindinsight.writer.encoding import chart_layouts
from mindinsight.writer.encoding.encoder import MessageEncoder
from mindinsight.writer.encoding.kinds import tensor


class PrCurveEncoder(MessageEncoder):
    """Encoder of pairs (labels, predictions), and of the six rows of a curve."""

    def serialised(self, value: Any) -> bytes:
        """Return a TensorProto of the six float32 rows of a curve, given as (labels, predictions) or as rows.
        Raises ValueError like ``chart_layouts.curve`` and ``chart_layouts.given``."""
        pair = isinstance(value, tuple) and len(value) == 2
        rows = chart_layouts.curve(*value) if pair else chart_layouts.given(list(value))
        return tensor.ENCODER.array_message(rows.astype(np.float32), "float32")

    def facts(self, message: Any) -> dict[str, Any]:
        """Return the number of thresholds, as ``thresholds``."""
        return {"thresholds": message.dims[1]}


ENCODER: Final = PrCurveEncoder("pr_curve")
