"""The loss around the way that the weights took in a training."""

from mindinsight.writer.landscape.message import loss_landscape
from mindinsight.writer.landscape.summary import SummaryLandscape

__all__ = ["SummaryLandscape", "loss_landscape"]
