"""Decoders of the payload messages of event files, called on demand.

All raise UnreadableError with the reason ``payload.unparsable`` when the bytes are not the message.
"""

from mindinsight.server.formats.payloads.alerts import Alert, alert
from mindinsight.server.formats.payloads.by_parts import Recorded, recorded, recorded_whole
from mindinsight.server.formats.payloads.histograms import Histograms, histograms
from mindinsight.server.formats.payloads.images import Image, ImageHeader, image, image_header
from mindinsight.server.formats.payloads.landscapes import Landscape, Point, landscape
from mindinsight.server.formats.payloads.tensors import Tensor, tensor

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
