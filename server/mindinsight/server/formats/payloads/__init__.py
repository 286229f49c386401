"""Decoders of the payload messages of event files.

All raise UnreadableError with the reason ``payload.unparsable`` if the bytes are not the message.
"""

from mindinsight.server.formats.payloads.chart_payloads import Landscape, Point, landscape
from mindinsight.server.formats.payloads.histogram_payloads import Histograms, histograms
from mindinsight.server.formats.payloads.media_payloads import (
    Alert,
    Image,
    ImageHeader,
    alert,
    image,
    image_header,
)
from mindinsight.server.formats.payloads.tensor_payloads import (
    Recorded,
    Tensor,
    recorded,
    recorded_whole,
    tensor,
)

__all__ = [
    "Alert",
    "Histograms",
    "Image",
    "ImageHeader",
    "Landscape",
    "Point",
    "Recorded",
    "Tensor",
    "alert",
    "histograms",
    "image",
    "image_header",
    "landscape",
    "recorded",
    "recorded_whole",
    "tensor",
]
