"""Plain JSON values of what event files hold, to compare with what TensorBoard reads; needs no pytest."""

import hashlib
import io
from typing import Any

import numpy as np
from PIL import Image


def layout_charts(layout: Any) -> dict[Any, Any]:
    """Category -> title -> tags, or value, lower and upper end."""
    return {
        category.title: {
            chart.title: list(chart.multiline.tag)
            or [[series.value, series.lower, series.upper] for series in chart.margin.series]
            for chart in category.chart
        }
        for category in layout.category
    }


def pixels(encoded: Any) -> Any:
    """Digest of a picture's pixels."""
    with Image.open(io.BytesIO(encoded)) as picture:
        return digest(np.asarray(picture).tobytes())


def digest(content: Any) -> Any:
    return hashlib.sha256(content).hexdigest()[:16]


def number(value: Any) -> Any:
    """What is not finite as text, floats to 12 digits: sums depend on the machine behind them."""
    if isinstance(value, (bool, int)):
        return value
    return float(f"{value:.12g}") if np.isfinite(value) else str(value)
